# SPDX-License-Identifier: GPL-2.0
"""How the HTML page looks: by day and by night, on a phone and on paper."""

STYLE = """\
:root {
  --ground: #ffffff; --ink: #1c2128; --faint: #59636e; --rule: #d0d7de; --soft: #f3f5f7;
  --link: #0550ae; --copy: #b42318; --refer: #1a6b3c;
  --confirmed: #14602f; --refuted: #a11414; --undecided: #7a4b00; --out: #4a5360;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #12161c; --ink: #e3e8ee; --faint: #a0abb8; --rule: #343c47; --soft: #1b2129;
    --link: #79b8ff; --copy: #ff8a7a; --refer: #6fd596;
    --confirmed: #6fd596; --refuted: #ff9a8f; --undecided: #f0c060; --out: #b4bfcb;
  }
}
* { box-sizing: border-box; }
html { scroll-behavior: auto; -webkit-text-size-adjust: 100%; }
body {
  margin: 0; background: var(--ground); color: var(--ink);
  font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere;
}
main { max-width: 64rem; margin: 0 auto; padding: 1rem; }
h1, h2, h3, h4 { line-height: 1.25; margin: 1.6em 0 .5em; }
h1 { font-size: 1.7rem; margin-top: .4em; }
h2 { font-size: 1.35rem; border-bottom: 1px solid var(--rule); padding-bottom: .2em; }
h3 { font-size: 1.1rem; }
h4 { font-size: 1rem; margin: 0 0 .3em; }
:target { scroll-margin-top: .5rem; outline: 2px solid var(--link); outline-offset: 3px; }
a { color: var(--link); }
a:focus-visible, .wide:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
.skip { position: absolute; left: -100vw; }
.skip:focus { left: 0; background: var(--ground); padding: .5rem; }
code { font: .9em/1.4 ui-monospace, monospace; background: var(--soft); padding: 0 .2em; }
.wide { overflow-x: auto; margin: .8em 0; }
table { border-collapse: collapse; font-size: .9rem; }
caption { text-align: left; color: var(--faint); padding-bottom: .3em; }
th, td {
  border-bottom: 1px solid var(--rule); padding: .3em .6em; text-align: left;
  vertical-align: top; overflow-wrap: normal;
}
thead th { border-bottom: 2px solid var(--rule); }
tbody th { font-weight: 600; }
.number { text-align: right; font-variant-numeric: tabular-nums; }
.word { font-weight: 700; font-size: .85em; white-space: nowrap; }
.confirmed { color: var(--confirmed); }
.refuted { color: var(--refuted); }
.undecided { color: var(--undecided); }
.differs-here { color: var(--undecided); }
.contradicted-by-its-own-numbers { color: var(--refuted); }
.out-of-scope { color: var(--out); }
nav ul { padding-left: 1.2em; }
.claim { border: 1px solid var(--rule); border-radius: 6px; padding: .7rem; margin: .8rem 0; }
.claim p { margin: .3em 0; }
dl { margin: .4em 0; font-size: .9rem; }
dt { color: var(--faint); }
dd { margin: 0 0 .3em 1rem; }
.maps, .gallery { display: flex; flex-wrap: wrap; gap: 1rem; }
.maps svg { width: 100%; max-width: 19rem; height: auto; flex: 1 1 16rem; }
.gallery figure { flex: 1 1 16rem; max-width: 20rem; }
figure { margin: 0; }
figure img { max-width: 100%; height: auto; background: #ffffff; border: 1px solid var(--rule); }
figcaption { font-size: .85rem; color: var(--faint); }
@media print {
  :root {
    --ground: #ffffff; --ink: #000000; --faint: #444444; --rule: #999999; --soft: #ffffff;
    --link: #000000; --copy: #a11414; --refer: #14602f;
    --confirmed: #14602f; --refuted: #a11414; --undecided: #7a4b00; --out: #333333;
  }
  body { font-size: 9pt; }
  main { max-width: none; padding: 0; }
  .skip { display: none; }
  .wide { overflow: visible; }
  table { font-size: 7.5pt; }
  th, td { overflow-wrap: anywhere; }
  .claim, figure, tr, svg { break-inside: avoid; }
  h2, h3, h4 { break-after: avoid; }
}
"""

# SPDX-License-Identifier: GPL-2.0
"""The recipes of CONTRIBUTING.md work: what they add is added to a copy of the tree, built and run."""
from __future__ import annotations

import json
import re
import shutil
import subprocess
from contextlib import contextmanager
from pathlib import Path

import pytest

from helpers import records
from helpers.names import ROOT

pytestmark = records.needs_root

# What a recipe may cost at most, in files that are edited by hand.
MOST_FILES = {"variant": 2, "behaviour": 4, "path": 3, "site": 5, "law": 2, "cause": 3, "kernel": 1, "hook": 1, "figure": 2}
# Of build/, with the programs and archives themselves: what make made of the sources.
BUILT_FOLDERS = {"userspace", "bpf", "tests"}
C_TESTS = ("build/tests/unit/causes_test", "build/tests/unit/laws_test")
# Of each recipe: file -> what a regular expression finds there, and what comes in its place; of a new file what it
# is copied from, before these two.
VARIANT = {
    "userspace/tables/variants.h": (
        r"^\tX\(a2, .*\n.*\n", r"""\g<0>\tX(a9_test, "A9-test", "sendmsg()", VARIANT_PLAIN, "as A2") \\\n"""),
    "userspace/workload/variants.c": (
        r"^VARIANT\(a2, .*\n", r"""\g<0>VARIANT(a9_test, false, message_alloc_fields, sendmsg_fields, NULL)\n"""),
}
# Each message has one byte all over it, and none that its receiver expects.
BEHAVIOUR = {
    "userspace/tables/behaviours.h": (
        r"^\tX\(client_processes, .*\n.*\n",
        r"""\g<0>\tX(spoil9_test, "spoil9-test", BEHAVIOUR_OF_SENDER, "spoil each message") \\\n"""),
    "userspace/workload/sender.c": (
        r"^\toutcome = sender->manner.variant->send\(sender, message\);\n",
        r"""\tif (sender->manner.behaviours & BEHAVIOUR_BIT(spoil9_test))
		message_set(message, 9);\n\g<0>"""),
    "docs/METHOD.md": (
        r"^\| end-on-enobufs \|", r"""| spoil9-test | content | bytes arrive wrong |\n\g<0>"""),
    "tests/host/test_behaviours.py": (
        r"^def test_each_client_is_a_process", r"""def test_spoil9_test_spoils_each_message():
    sent, got = totals("A2", BYTES, "spoil9-test")
    assert sent["accepted_bytes"] == got["received_bytes"] == MESSAGES * BYTES
    assert got["content_errors"] > 0.9 * MESSAGES * BYTES


\g<0>"""),
}
PATH = {
    "userspace/tables/paths.h": (
        r"^\tX\(lo, .*\n", r"""\g<0>\tX(lo9_test, "lo9-test", PATH_ONE_DEVICE, "as lo") \\\n"""),
    "userspace/path/lo9_test.c": ("userspace/path/lo.c", r"path_lo\b", "path_lo9_test"),
}
# What a receive call returned, which both backends can count.
SITE = {
    "bpf/include/sites.h": (
        r"^\tX\(rx_discard, ", r"""\tX(rx_test, SITE_OF_RECEIVER, "nobody", "given back by a receive call") \\\n\g<0>"""),
    "bpf/receives.bpf.c": (r"^/\* The call has given the lock back. \*/\n", r"""SEC("?tp_btf/sock_recv_length")
int BPF_PROG(receive_test, struct sock *sk, int ret, int flags)
{
	if (ret > 0 && window_is_open)
		site_add(books_find(cookie_of(sk)), SITE_rx_test, ret);
	return 0;
}

\g<0>"""),
    "userspace/engine/hooks.c": (
        r"^\tTRACEPOINT\(2, \"rx_copy\".*\n",
        r"""\g<0>\tTRACEPOINT(3, "receive_test", "rx_test", "sock_recv_length", DETAIL, PLAIN),\n"""),
    "docs/METHOD.md": (r"^### `rx_discard`", r"""### `rx_test`: what a receive call gave back\n\n\g<0>"""),
    "tests/helpers/books.py": (
        r'^        "rx_copy": payload \+ requests,\n', r"""\g<0>        "rx_test": payload + requests,\n"""),
}
LAW = {
    "userspace/record/laws.h": (
        r"(?s)^\tR\(pin, .*?obstacle_to_pin\) \\\n",
        r"""\g<0>\tR(test_of_syn, "test of SYN", SOCKET, LAW_IN_RUNS, "sends that put bytes into the SYN", "none", """
        r""".left = { COUNT(fastopen_sends) }, .hooks = { "accepted" }) \\\n"""),
    "tests/unit/expected_laws.h": (
        r"(?s)^/\* Every law, in the order.*?{ \"pin\", .*?},\n", r"""static void break_syn(struct made *m, int flow, int n)
{
	made_tx(m, flow)->count[COUNT_fastopen_sends] += n;
}

\g<0>	{ "test of SYN", break_syn, true, NEEDS_HOOKS, "accepted," },
"""),
}
CAUSE = {
    "userspace/tables/causes.h": (
        r'^\tX\(TUN, "tun", ', r"""\tX(TEST9, "test of causes", CAUSE_ELSEWHERE, "do not test") \\\n\g<0>"""),
    "userspace/tables/callers.h": (
        r'^\tX\("tun_net_xmit", ', r"""\tX("test9_xmit", TEST9, RESHAPE) \\\n\g<0>"""),
    "tests/unit/causes_test.c": (r"^\t/\* Names that only begin alike are not it. \*/\n",
                                 r"""\t{ "6.12", MOVE, 0, "test9_xmit < ip_output", "test of causes" },
	{ "6.12", MOVE, 0, "test9_xmit2 < ip_output", "unknown" },\n\g<0>"""),
}
KERNEL = {
    "tools/lib/copyscope/common/releases.py": (
        r'(?s)^(    "7.2": \(\("sid",\),\),\n)(.*^TESTED = .*?)\)$',
        r"""\1    "9.9": (("sid",),),\n\2, "9.9")"""),
}
# As if older kernels had it by another name.
HOOK = {
    "userspace/engine/hooks.c": (
        r"(?s)^(\tTRACEPOINT\(2, \"rx_copy\", \"rx_copy\", \")(skb_copy_datagram_iovec)(.*?\n)"
        r"(.*^const struct hook_form hook_forms\[\] = {\n)",
        r"""\1skb_copy_test\3\1\2\3\4	{ "skb_copy_datagram_iovec", 2, "6.1", "" },\n"""),
}
FIGURE = {
    "tools/lib/copyscope/figures/specs.py": (
        r'^    default\("efficiency", "threads", .*\n',
        r"""\g<0>    default("pinned_pages", "size", "Pages pinned against message size"),\n"""),
    "tests/unit/test_figures.py": (
        r"^def test_a_zero_does_not_go_on_a_log_axis", r"""def test_a_message_pins_no_page_if_nothing_is_referenced():
    figure = draw_lines.draw(group_of(sweep(("A1",), repeats=1)), DEFAULTS["pinned_pages-by-size"])
    assert not any(lines_of(figure)[0].get_ydata())


\g<0>"""),
}
RECIPES = {"variant": VARIANT, "behaviour": BEHAVIOUR, "path": PATH, "site": SITE, "law": LAW, "cause": CAUSE, "kernel": KERNEL, "hook": HOOK,
           "figure": FIGURE}


def recipe(name: str) -> tuple[int, list[list[str]]]:
    """How many files a recipe names in its heading, and the files of each of its steps."""
    text = (ROOT / "CONTRIBUTING.md").read_text()
    heading, body = re.search(rf"^### A {name}: (\d+) files?\n(.*?)(?=^##)", text, re.M | re.S).groups()
    steps = re.split(r"^\d\. ", body.split("\nTest: ")[0], flags=re.M)[1:]
    return int(heading), [re.findall(r"`([\w/.]+\.\w+)`", step) for step in steps]


def test_each_recipe_is_followed():
    assert re.findall(r"^### A (\w+): \d+ files?$", (ROOT / "CONTRIBUTING.md").read_text(), re.M) == list(RECIPES)


@pytest.mark.parametrize("name", MOST_FILES)
def test_a_recipe_names_as_many_files_as_its_heading_says(name):
    count, steps = recipe(name)
    assert count == len(steps) <= MOST_FILES[name]
    for step in steps:
        assert step
        for file in step:
            assert re.search("SYMBOL|QUESTION", file) or (ROOT / file).exists(), file


def apply(tree: Path, changes: dict) -> None:
    """Make the changes of a recipe by hand, as it were."""
    for name, (*source, found, instead) in changes.items():
        old = (tree / (source[0] if source else name)).read_text()
        text, count = re.subn(found, instead, old, count=0 if source else 1, flags=re.M)
        assert count, name
        (tree / name).write_text(text)


def run(tree: Path, *words: str) -> str:
    """Run a command in the copy, which must succeed."""
    done = subprocess.run(words, cwd=tree, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def judged(tree: Path, *words: str) -> str:
    """What pytest says of the copy's own tests."""
    done = subprocess.run(["build/venv/bin/python", "-m", "pytest", "-q", "-p", "no:cacheprovider",
                           *words], cwd=tree, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def a_run(tree: Path) -> dict:
    """The record of a run of the new variant on the new path."""
    return json.loads(run(tree, "build/trace_run", "A9-test", "4093", "2", "--path", "lo9-test",
                          "--messages", "23", "--quiet", "--json", "-"))


def left_out(folder: str, found: list[str]) -> set[str]:
    """What the copy does without: results that no table is made of, kernels, environments, builds of other kinds."""
    if Path(folder) == ROOT:
        return {".git"}
    if Path(folder) == ROOT / "results":
        return set(found) - {"ways"}
    if Path(folder) == ROOT / "build":
        return {name for name in found
                if (ROOT / "build" / name).is_dir() and name not in BUILT_FOLDERS}
    return {"__pycache__"} & set(found)


@pytest.fixture(scope="module", name="tree")
def fixture_tree(tmp_path_factory) -> Path:
    """A copy of the tree and of what was built of it, where each recipe is followed."""
    tree = tmp_path_factory.mktemp("recipes") / "tree"
    shutil.copytree(ROOT, tree, symlinks=True, ignore=left_out)
    (tree / "build/venv").symlink_to(ROOT / "build/venv")
    for changes in RECIPES.values():
        apply(tree, changes)
    run(tree, "make", "-j2", "all", *C_TESTS)
    (tree / "before").write_text(judged(tree, "tests/unit/test_tables.py"))
    run(tree, "make", "tables")
    return tree


@pytest.mark.long
@pytest.mark.parametrize("name, changes", RECIPES.items())
def test_following_a_recipe_touches_the_files_that_it_names(name, changes):
    _, steps = recipe(name)
    named = [[file.replace("SYMBOL", "lo9_test").replace("QUESTION", "receives") for file in step] for step in steps]
    assert len(changes) == len(steps)
    assert all(sum(file in step for file in changes) == 1 for step in named)


@pytest.mark.long
def test_without_make_tables_a_test_names_what_is_stale(tree):
    before = (tree / "before").read_text()
    for name in ("docs/RUNNING.md", "docs/trace_run.8", "docs/record.schema.json", "docs/METHOD.md"):
        assert f"{name}: is not up to date: run make tables" in before
    said = judged(tree, "tests/unit/test_tables.py")
    assert " failed" not in said and " passed" in said, said


@pytest.mark.long
def test_what_recipes_add_passes_lint_and_the_structure_tests(tree):
    run(tree, "tests/lint")
    # Not that nothing is written twice, as the new path is a copy of lo; results/, which links lead to, is not copied.
    said = judged(tree, "tests/structure/test_structure.py", "tests/structure/test_python_rooms.py",
                  "tests/structure/test_documents.py::test_the_readme_is_short")
    assert " failed" not in said and " passed" in said, said


@pytest.mark.long
def test_no_file_but_those_that_recipes_name_was_edited_by_hand(tree):
    made = set(re.findall(r"(\S+): is not up to date", (tree / "before").read_text()))
    files = {str(file.relative_to(tree)) for folder in ("bpf", "docs", "studies", "tests", "tools", "userspace")
             for file in (tree / folder).rglob("*") if file.is_file() and file.suffix != ".pyc"}
    changed = {name for name in files | {"README.md", "Makefile", "CONTRIBUTING.md"}
               if not (ROOT / name).is_file() or
               (ROOT / name).read_bytes() != (tree / name).read_bytes()}
    assert changed - (made - {"docs/METHOD.md"}) == {file for changes in RECIPES.values() for file in changes}


@pytest.mark.long
def test_the_new_variant_runs_and_its_books_balance(tree):
    said = judged(tree, "tests/host/test_books.py", "-k", "A9-test and lo")
    assert " failed" not in said and " passed" in said, said


@pytest.mark.long
def test_the_new_behaviour_is_one_of_a_senders(tree):
    said = judged(tree, "tests/host/test_behaviours.py", "-k", "spoil9")
    assert "1 passed" in said, said
    assert "spoil9-test" in run(tree, "build/trace_run", "--help")


@pytest.mark.long
def test_the_new_figure_is_drawn(tree):
    said = judged(tree, "tests/unit/test_figures.py", "-k", "pins_no_page")
    assert "1 passed" in said, said


@pytest.mark.long
def test_the_books_of_a_run_on_the_new_path_balance(tree):
    said = judged(tree, "tests/host/test_books.py", "-k", "94139_at_each_site and lo9-test and not A9-test")
    assert " failed" not in said and " passed" in said, said


@pytest.mark.long
def test_the_new_law_is_in_the_record_and_balances(tree):
    record = a_run(tree)
    assert [each["law"] for each in record["laws"]] == names(tree, "laws")
    law, = (each for each in record["laws"] if each["law"] == "test of SYN")
    assert law["status"] == "balanced" and law["left_is"] == "sends that put bytes into the SYN"


@pytest.mark.long
def test_the_new_site_is_counted_to_the_byte_and_named_in_the_report(tree):
    record = a_run(tree)
    assert record["sites"]["rx_test"]["how"] == "measured"
    assert record["sites"]["rx_test"]["bytes"] == 23 * 4093 == record["sites"]["rx_copy"]["bytes"]
    shown = run(tree, "tools/trace_run", "A2", "4093", "2", "--path", "lo", "--messages", "23")
    assert re.search(r"^rx_test +94.1 kB +1.000 +measured +given back by a receive call$", shown, re.M)


@pytest.mark.long
def test_a_watch_says_why_it_does_not_count_the_new_site(tree):
    run(tree, "tools/copyscope", "watch", "--quiet", "--json", "watch.json", "--", "true")
    record = json.loads((tree / "watch.json").read_text())
    assert record["sites"]["rx_test"] == {
        "bytes": None, "calls": None, "how": "not_measured", "why": "no hook of a watch counts it"}


@pytest.mark.long
def test_readers_take_records_without_the_new_site_and_draw_those_with_it(tree):
    said = judged(tree, "tests/unit/test_copymap.py", "tests/unit/test_records_cmd.py")
    assert " failed" not in said and " passed" in said, said
    (tree / "record.json").write_text(json.dumps(a_run(tree)))
    arrows = run(tree, "build/venv/bin/python", "-c", "import sys; sys.path.insert(0, 'tools/lib')\n"
                 "from pathlib import Path\n"
                 "from copyscope.pictures.arrows import build\n"
                 "from copyscope.records.load import load_record\n"
                 "print(*(each.name for each in build([load_record(Path('record.json'))]).arrows))")
    assert "rx_test" in arrows.split()


@pytest.mark.long
def test_the_new_cause_is_told_by_its_caller(tree):
    program = "build/tests/unit/causes_test"
    assert "FAILED" not in run(tree, program)
    assert "| test of causes | `reshape` | `test9_xmit` |" in (tree / "docs/METHOD.md").read_text()
    with without(tree / "userspace/tables/callers.h", "test9_xmit"):
        run(tree, "make", program)
        done = subprocess.run([tree / program], capture_output=True, text=True, check=False)
    assert done.returncode != 0 and '"unknown" != "test of causes"' in done.stdout + done.stderr


@pytest.mark.long
def test_guests_and_documents_have_the_new_kernel(tree):
    assert re.search(r"^  9.9 +a guest; ", run(tree, "tools/trace_run", "--list"), re.M)
    assert "kernels that tests boot (6.1, 6.12, 6.18, 7.2, 9.9)" in (tree / "docs/RUNNING.md").read_text()
    assert "6.1 to 9.9" in (tree / "docs/RUNNING.md").read_text()


@pytest.mark.long
def test_of_two_forms_of_a_hook_that_of_this_kernel_is_attached(tree):
    probes = {each["hook"]: each for each in a_run(tree)["backend"]["probes"] if each["site"] == "rx_copy"}
    assert probes["tp_btf/skb_copy_datagram_iovec"]["status"] == "attached"
    absent = probes["tp_btf/skb_copy_test"]
    assert absent["status"] == "absent" and "skb_copy_test" in absent["why"]
    row = re.search(r"^\| rx_copy \|.*$", (tree / "docs/METHOD.md").read_text(), re.M)[0]
    assert "`skb_copy_test`, `skb_copy_datagram_iovec` (6.1 and later) |" in row


def names(tree: Path, table: str) -> list[str]:
    """The names in a table of the copy; laws of runs without TLS."""
    tables = json.loads((tree / "tools/lib/copyscope/common/tables.json").read_text())
    return [row["name"] for row in tables[table]
            if row.get("of_runs", True) and (table != "laws" or not row["of_tls"])]


@contextmanager
def without(file: Path, row: str):
    """The file as it is without a row."""
    whole = file.read_text()
    file.write_text("".join(line for line in whole.splitlines(True) if row not in line))
    assert file.read_text() != whole
    yield
    file.write_text(whole)


@pytest.mark.long
def test_a_law_is_broken_by_its_row_and_one_without_a_row_is_told(tree):
    program = "build/tests/unit/laws_test"
    assert "FAILED" not in run(tree, program)
    with without(tree / "tests/unit/expected_laws.h", '"test of SYN"'):
        run(tree, "make", program)
        done = subprocess.run([tree / program], capture_output=True, text=True, check=False)
    assert done.returncode != 0 and "test of SYN" in done.stdout + done.stderr

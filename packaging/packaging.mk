# SPDX-License-Identifier: GPL-2.0
# Installs copyscope, makes releases and packages of them. Part of the Makefile.
.PHONY: install uninstall dist sbom deb image picture site

PREFIX ?= /usr/local

install: all ## install commands, manual pages and completion under PREFIX (default /usr/local)
	$(Q)tools/install_tree --at "$(PREFIX)" "$(DESTDIR)$(PREFIX)"
uninstall: ## remove what make install put under PREFIX; records stay
	$(Q)tools/install_tree --remove "$(DESTDIR)$(PREFIX)"
image: static ## write an OCI image that holds the static collector alone: build/copyscope-collect.oci.tar
	$(Q)packaging/oci
site: ## write documents, figures and answers as a static site: build/site/index.html
	$(Q)packaging/site
picture: all ## draw the README's terminal again, from a run in a guest
	$(Q)packaging/picture
dist: ## write a release of the last commit: build/dist/copyscope-RELEASE.tar.gz, the same each time
	$(Q)packaging/dist
sbom: all ## write what it is made of and built with, with licences: build/dist/copyscope-RELEASE.spdx.json
	$(Q)packaging/sbom
deb: ## build, check and try a Debian package in clean chroots, into build/deb (root)
	$(Q)packaging/deb

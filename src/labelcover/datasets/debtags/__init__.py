"""The embedded set: 2,291 Debian packages, 378 facts about each, 24 tags.

The facts are those of the package index of Debian 12.15 ("bookworm", main, amd64) and of its
English descriptions; the tags were given to the packages by the debtags contributors. Credit is
theirs and the Debian project's: https://debtags.debian.org and https://www.debian.org.
``build.py`` makes ``debtags.npz`` from the index, without any random number.
"""

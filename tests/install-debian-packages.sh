#!/bin/sh
# What the tests need from Debian: Chromium and fonts for the page, systemd-analyze for the units, bubblewrap for what runs
# inside them. Does nothing when all is there; says so when it may not install.
set -eu
packages="chromium fonts-noto-cjk fonts-noto-color-emoji systemd bubblewrap"
command -v chromium >/dev/null && [ -e /usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc ] \
  && command -v systemd-analyze >/dev/null && command -v bwrap >/dev/null && exit 0
if ! command -v apt-get >/dev/null; then
  echo "no apt-get: install Chromium, systemd and bubblewrap yourself, or their tests are skipped"; exit 0
fi
as_root=""
if [ "$(id -u)" != 0 ]; then
  if command -v sudo >/dev/null && sudo -n true 2>/dev/null; then as_root="sudo -n"
  else echo "not root: install $packages, or their tests are skipped"; exit 0; fi
fi
$as_root apt-get update -qq
DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -qq --no-install-recommends $packages >/dev/null

#!/bin/sh
# Chromium and fonts for the tests of the page. Does nothing when they are there; says so when it may not install them.
set -eu
command -v chromium >/dev/null && [ -e /usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc ] && exit 0
if ! command -v apt-get >/dev/null; then
  echo "no apt-get: install Chromium yourself, or the tests of the page are skipped"; exit 0
fi
as_root=""
if [ "$(id -u)" != 0 ]; then
  if command -v sudo >/dev/null && sudo -n true 2>/dev/null; then as_root="sudo -n"
  else echo "not root: install chromium, fonts-noto-cjk and fonts-noto-color-emoji, or the tests of the page are skipped"; exit 0; fi
fi
$as_root apt-get update -qq
DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -qq --no-install-recommends chromium fonts-noto-cjk fonts-noto-color-emoji >/dev/null

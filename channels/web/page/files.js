// Files as they stand in the conversation: pictures to be seen, the rest to be fetched, each with its name and size.

import { icon, make } from "./dom.js";
import { say, sizeOf } from "./words.js";

// Pictures of this page's own, by the id of their upload: they are there before the server has made one.
const own = new Map();

export function keepOwn(id, address) {
  if (address) own.set(id, address);
}

// The page shows another chat now.
export function forgetOwn() {
  for (const address of own.values()) URL.revokeObjectURL(address);
  own.clear();
}

// files: {name, size, href, picture} as the server tells of them ("" for what is not here any more), or {file, name, size}
// of a message that is not confirmed yet
export function fileList(files) {
  return make("ul", { class: "files", "aria-label": say("files"), hidden: files.length === 0 }, ...files.map(entry));
}

function entry(file) {
  const source = own.get(file.file) || file.picture;
  const chip = chipOf(file);
  if (!source) return make("li", {}, chip);
  const image = make("img", { src: source, alt: file.name, loading: "lazy", decoding: "async" });
  const seen = file.picture ? make("a", { class: "picture-link", href: file.picture, target: "_blank", title: say("open_picture") }, image) : image;
  const item = make("li", { class: "seen" }, seen, chip);
  image.addEventListener("error", () => (item.classList.remove("seen"), seen.remove()));
  return item;
}

function chipOf({ name, size, href }) {
  const gone = href === "";
  const told = gone ? say("file_gone") : size ? sizeOf(size) : "";
  const words = [icon("file"), make("span", { class: "file-name", dir: "auto", text: name }), make("span", { class: "faint", text: told })];
  return href ? make("a", { class: "file", href, download: name, title: say("download", { name }) }, ...words) : make("span", { class: gone ? "file gone" : "file" }, ...words);
}

// The list of chats at the side, and the drawer it becomes on a narrow screen.

import { $, icon, make } from "./dom.js";
import { daysAgo, say } from "./words.js";

const narrow = window.matchMedia("(max-width: 52rem)");

export class Chats {
  // open(chat) shows a chat; fresh() begins one
  constructor({ open, fresh }) {
    this.list = [];
    this.current = "";
    this.element = $("#chats");
    this.side = $("#side");
    this.veil = $("#veil");
    this.menu = $("#menu");
    $("#new-chat .glyph").replaceWith(icon("plus"));
    this.menu.append(icon("menu"));
    $("#side-close").append(icon("close"));
    $("#new-chat").addEventListener("click", () => (this.drawer(false), fresh()));
    this.menu.addEventListener("click", () => this.drawer(true));
    $("#side-close").addEventListener("click", () => this.drawer(false));
    this.veil.addEventListener("click", () => this.drawer(false));
    this.side.addEventListener("keydown", (event) => event.key === "Escape" && this.isDrawn && this.drawer(false));
    this.element.addEventListener("click", (event) => {
      const link = event.target.closest("a");
      if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      this.drawer(false);
      open(link.dataset.chat);
    });
    narrow.addEventListener("change", () => this.drawer(false));
    this.drawer(false);
  }

  get isDrawn() {
    return narrow.matches && this.side.classList.contains("drawn");
  }

  // On a narrow screen the list lies over the page while it is open, and out of reach while it is not.
  drawer(wanted) {
    const drawn = wanted && narrow.matches;
    const was = this.side.classList.contains("drawn");
    this.side.classList.toggle("drawn", drawn);
    this.side.inert = narrow.matches && !drawn;
    $("#main").inert = drawn;
    this.veil.hidden = !drawn;
    this.menu.setAttribute("aria-expanded", String(drawn));
    if (drawn) $("#new-chat").focus();
    else if (was && narrow.matches) this.menu.focus();
  }

  set(list) {
    this.list = list;
    this.paint();
  }

  mark(chat) {
    this.current = chat;
    this.paint();
  }

  live(chat, live) {
    const known = this.list.find((one) => one.id === chat);
    if (known) known.live = live;
    this.paint();
  }

  title(chat) {
    return this.list.find((one) => one.id === chat)?.title || "";
  }

  // The chat before (-1) or after (1) the current one, as they are listed.
  beside(step) {
    const at = this.list.findIndex((one) => one.id === this.current);
    return this.list[at < 0 ? 0 : at + step]?.id;
  }

  paint() {
    const groups = new Map();
    for (const chat of this.list) {
      const ago = daysAgo(chat.last_at);
      const name = say(ago === 0 ? "today" : ago === 1 ? "yesterday" : ago < 7 ? "week" : "older");
      if (!groups.has(name)) groups.set(name, []);
      groups.get(name).push(this.row(chat));
    }
    const parts = [...groups].flatMap(([name, rows]) => [make("h2", { text: name }), make("ul", {}, ...rows)]);
    const focused = this.element.contains(document.activeElement) ? document.activeElement.dataset.chat : null;
    this.element.replaceChildren(...parts);
    if (focused) this.element.querySelector(`a[data-chat="${focused}"]`)?.focus();
  }

  row({ id, title, live }) {
    return make("li", {}, make("a", { href: `#${id}`, "data-chat": id, title, "aria-current": id === this.current ? "page" : null },
      make("span", { class: "chat-title", dir: "auto", text: title || say("untitled") }),
      live ? make("span", { class: "live-dot", role: "img", "aria-label": say("working") }) : null));
  }
}

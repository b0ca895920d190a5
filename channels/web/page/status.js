// What the page says about the connection and about the model that answers.

import { $, icon, make } from "./dom.js";
import { language, say } from "./words.js";

const HIDDEN = "bowerbird.demo-hidden";

export class Status {
  // again() tries the connection at once; announce(text) speaks
  constructor({ again, announce }) {
    this.again = again;
    this.announce = announce;
    this.element = $("#banners");
    this.pill = $("#model");
    this.dialog = $("#about-model");
    this.isDown = false;
    this.about = {};
    this.pill.addEventListener("click", () => this.explain());
    this.dialog.addEventListener("click", (event) => event.target === this.dialog && this.dialog.close());
  }

  down() {
    document.body.dataset.line = "down";
    if (this.isDown) return;
    this.isDown = true;
    // a line that is back within a moment is not worth a word
    this.timer = setTimeout(() => {
      this.said = true;
      this.announce(say("lost"));
      this.paint();
    }, 1200);
  }

  up() {
    document.body.dataset.line = "up";
    clearTimeout(this.timer);
    if (this.isDown && this.said) this.announce(say("back"));
    this.isDown = this.said = false;
    this.paint();
  }

  // Something that trying again will not mend.
  fail(sentence) {
    this.problem = sentence;
    this.paint();
  }

  set(about) {
    this.about = about;
    this.problem = "";
    const name = about.name || "Bowerbird";
    $("#name").textContent = name;
    $("#version").textContent = about.version ? `${name} ${about.version}` : name;
    this.paint();
  }

  get model() {
    return this.about.model || {};
  }

  paint() {
    this.paintPill();
    const banners = [];
    if (this.isDown && this.said) banners.push(this.lost());
    for (const text of [this.problem, this.about.troubles?.[language] ?? this.about.trouble].filter(Boolean)) {
      banners.push(make("div", { class: "banner bad", role: "alert" }, icon("alert"), make("p", { dir: "auto", text })));
    }
    const { state, demo } = this.model;
    if (["downloading", "loading"].includes(state)) banners.push(this.progress());
    else if (state === "absent" || state === "failed") banners.push(this.advice(say(state === "failed" ? "model_failed" : "absent")));
    else if (demo && !hidden()) banners.push(this.advice(say("demo"), true));
    this.element.replaceChildren(...banners);
  }

  lost() {
    return make("div", { class: "banner warn", role: "status" }, make("span", { class: "spinner" }), make("p", { text: say("lost") }),
      make("button", { type: "button", class: "quiet", text: say("try_now"), on: { click: () => this.again() } }));
  }

  progress() {
    const { state, name, done, total } = this.model;
    const share = state === "downloading" && total > 0 ? done / total : null;
    const words = say(`model_${state}`, { name: name || "" }).trim();
    return make("div", { class: "banner" }, make("p", { text: share === null ? `${words}…` : `${words} · ${Math.floor(share * 100)} %` }),
      make("progress", { max: "1", value: share === null ? null : String(share), "aria-label": words }));
  }

  advice(sentence, dismissible = false) {
    return make("div", { class: "banner" }, icon("alert"), make("p", { text: `${sentence} ` }, make("button", { type: "button", class: "quiet", text: say("better"), on: { click: () => this.explain() } })),
      dismissible ? make("button", { type: "button", class: "icon", "aria-label": say("dismiss"), title: say("dismiss"), on: { click: () => (hide(), this.paint()) } }, icon("close")) : null);
  }

  paintPill() {
    const { state, name, demo } = this.model;
    const kind = state === "ready" ? (demo ? "demo" : "ready") : state || "";
    const short = (name || "").split("/").pop();
    this.pill.className = `pill ${kind}`;
    this.pill.hidden = !state;
    const text = state === "ready" ? (demo ? say("model_demo") : short) : state === "absent" || state === "failed" ? say("model_absent") : short;
    this.pill.replaceChildren(make("span", { class: "dot" }), make("span", { text }));
    this.pill.title = say("about_title");
    this.pill.setAttribute("aria-label", say("model_is", { name: text }));
  }

  explain() {
    const { name, demo, state } = this.model;
    const wanting = demo || state !== "ready";
    this.dialog.replaceChildren(
      make("h2", { id: "about-title", text: say("about_title") }),
      name ? make("p", { text: say("about_now", { name }) }) : "",
      this.model.reason ? make("p", { class: "faint", text: this.model.reason }) : "",
      ...(wanting ? [make("h3", { text: say("better") }), make("ul", {}, make("li", { text: say("about_key") }), make("li", { text: say("about_ollama") }))] : []),
      make("button", { type: "button", class: "primary", text: say("close"), on: { click: () => this.dialog.close() } }),
    );
    this.dialog.showModal();
  }
}

function hidden() {
  try {
    return localStorage.getItem(HIDDEN) === "1";
  } catch {
    return false;
  }
}

function hide() {
  try {
    localStorage.setItem(HIDDEN, "1");
  } catch {
    // without storage it comes back at the next visit
  }
}

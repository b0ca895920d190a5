// Keyboard shortcuts, and the list that explains them.

import { $, make } from "./dom.js";
import { say } from "./words.js";

const mac = /Mac|iP(hone|ad)/.test(navigator.platform);
const control = mac ? "⌘" : "Ctrl";

const LIST = [
  ["Enter", "key_send"],
  ["Shift Enter", "key_line"],
  ["Esc", "key_stop"],
  ["/", "key_focus"],
  [`${control} Shift O`, "key_new"],
  ["Alt ↑ ↓", "key_chats"],
  ["?", "key_help"],
];

// told: {stop() -> whether something was running, focus(), fresh(), beside(step)}
export function listen(told) {
  const dialog = $("#keys");
  $("#keys-open").addEventListener("click", () => explain(dialog));
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  document.addEventListener("keydown", (event) => {
    if (event.isComposing || event.defaultPrevented || document.querySelector("dialog[open]")) return;
    const typing = event.target.closest?.("input, textarea, select, [contenteditable]");
    const bare = !event.ctrlKey && !event.metaKey && !event.altKey;
    const act =
      event.key === "Escape" && bare ? told.stop
      : (event.ctrlKey || event.metaKey) && event.shiftKey && event.code === "KeyO" ? told.fresh
      : event.altKey && !event.ctrlKey && event.key === "ArrowUp" ? () => told.beside(-1)
      : event.altKey && !event.ctrlKey && event.key === "ArrowDown" ? () => told.beside(1)
      : !typing && bare && event.key === "/" ? told.focus
      : !typing && bare && event.key === "?" ? () => explain(dialog)
      : null;
    if (act && act() !== false) event.preventDefault();
  });
}

function explain(dialog) {
  const rows = LIST.map(([keys, word]) =>
    make("div", {}, make("dt", {}, ...keys.split(" ").map((key) => make("kbd", { text: key }))), make("dd", { text: say(word) })),
  );
  dialog.replaceChildren(
    make("h2", { id: "keys-title", text: say("keys") }),
    make("dl", {}, ...rows),
    make("button", { type: "button", class: "primary", text: say("close"), on: { click: () => dialog.close() } }),
  );
  dialog.showModal();
}

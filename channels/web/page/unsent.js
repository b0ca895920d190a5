// Messages that the server has not confirmed. They outlive a reload, and go out again under the same id, which makes a
// message that did arrive arrive only once.

const KEY = "bowerbird.unsent";
const MOST = 50;

function read() {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY) || "[]");
    return Array.isArray(kept) ? kept : [];
  } catch {
    return [];
  }
}

function write(messages) {
  try {
    localStorage.setItem(KEY, JSON.stringify(messages.slice(-MOST)));
  } catch {
    // a full or forbidden storage only costs the safety net
  }
}

export const unsent = {
  all: read,
  of: (chat) => read().filter((message) => message.chat === chat),
  keep: (message) => write([...read().filter((one) => one.id !== message.id), message]),
  drop: (id) => write(read().filter((message) => message.id !== id)),
};

export function freshId(length = 16) {
  const letters = "abcdefghijkmnpqrstuvwxyz23456789";
  return [...crypto.getRandomValues(new Uint8Array(length))].map((byte) => letters[byte % 32]).join("");
}

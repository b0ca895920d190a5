// Changes a block of an answer into its next state with as few touches as possible, so that a selection, the scroll
// position of a wide table and a focused copy button survive while the text grows.

export function morph(target, source) {
  const from = [...target.childNodes];
  const to = [...source.childNodes];
  to.forEach((next, at) => {
    const old = from[at];
    if (!old) target.append(next);
    else if (old.nodeType !== next.nodeType || old.nodeName !== next.nodeName) old.replaceWith(next);
    else if (old.nodeType === Node.TEXT_NODE) grow(old, next.data);
    else if (!old.isEqualNode(next)) change(old, next);
  });
  for (const old of from.slice(to.length)) old.remove();
}

function change(old, next) {
  if (old.classList?.contains("copy")) return;
  for (const { name } of [...old.attributes]) if (!next.hasAttribute(name)) old.removeAttribute(name);
  for (const { name, value } of next.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  morph(old, next);
}

function grow(node, data) {
  if (data.startsWith(node.data)) node.appendData(data.slice(node.data.length));
  else node.data = data;
}

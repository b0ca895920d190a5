// Quiet colours for finished code: comments, strings, numbers and the words that most languages share.

const WORDS = new Set(
  ("abstract and as assert async await begin bool boolean break byte case catch char class const continue def default defer del do " +
    "double elif else end enum except export extends extern false False final finally float fn for foreach from func function go " +
    "if impl implements import in int interface is lambda let local long loop match module mut namespace new nil none None not null " +
    "or override package pass private protected pub public raise readonly return self short static string struct super switch then " +
    "this throw throws trait true True try type typeof undefined union unless unsigned until use using val var virtual void when " +
    "where while with yield SELECT FROM WHERE INSERT INTO UPDATE DELETE JOIN LEFT ON GROUP BY ORDER HAVING LIMIT VALUES CREATE TABLE AND OR NOT NULL AS").split(" "),
);
const PLAIN = new Set(["", "text", "txt", "plain", "plaintext", "output", "console", "diff", "markdown", "md"]);
const HASH = new Set(["python", "py", "bash", "sh", "shell", "zsh", "yaml", "yml", "toml", "ruby", "rb", "r", "perl", "make", "makefile", "dockerfile", "ini", "conf", "elixir"]);
const DASH = new Set(["sql", "lua", "haskell", "hs", "ada"]);
const LONGEST = 30000;

export function highlight(code) {
  const name = (code.className.match(/language-(\S+)/)?.[1] || "").toLowerCase();
  const text = code.textContent;
  if (PLAIN.has(name) || text.length > LONGEST || code.dataset.lit) return;
  code.dataset.lit = "1";
  const comment = HASH.has(name) ? "#[^\\n]*" : DASH.has(name) ? "--[^\\n]*" : "//[^\\n]*|/\\*[\\s\\S]*?\\*/|<!--[\\s\\S]*?-->";
  const pattern = new RegExp(
    `(${comment})|("""[\\s\\S]*?"""|'''[\\s\\S]*?'''|"(?:\\\\.|[^"\\\\\\n])*"|'(?:\\\\.|[^'\\\\\\n])*'|\`(?:\\\\.|[^\`\\\\])*\`)|\\b(\\d[\\w.]*)|([A-Za-z_]\\w*)(?=\\s*(\\())?`,
    "g",
  );
  const out = document.createDocumentFragment();
  let at = 0;
  for (const match of text.matchAll(pattern)) {
    const kind = match[1] ? "comment" : match[2] ? "string" : match[3] ? "number" : WORDS.has(match[4]) ? "word" : match[5] ? "call" : "";
    if (!kind) continue;
    const end = match.index + match[0].length;
    out.append(text.slice(at, match.index));
    const span = document.createElement("span");
    span.className = `t-${kind}`;
    span.textContent = match[0];
    out.append(span);
    at = end;
  }
  out.append(text.slice(at));
  code.replaceChildren(out);
}

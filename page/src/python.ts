// Python, coloured as far as one line at a time can be: words, strings, numbers, comments.
const WORDS =
  "and|as|assert|async|await|break|class|continue|def|del|elif|else|except|finally|for|from|global|if|import|in|is|lambda|None|nonlocal|not|or|pass|raise|return|True|False|try|while|with|yield";
const PIECES = new RegExp(
  `(#.*$)|([rbfuRBFU]{0,2}(?:"(?:[^"\\\\]|\\\\.)*"|'(?:[^'\\\\]|\\\\.)*'))|\\b(${WORDS})\\b|\\b(\\d[\\w.]*(?:[eE][+-]?\\d+)?)`, "g",
);

export function tokens(line: string): [string, string][] {
  const found: [string, string][] = [];
  let from = 0;
  for (const hit of line.matchAll(PIECES)) {
    if (hit.index > from) found.push(["", line.slice(from, hit.index)]);
    found.push([hit[1] ? "c" : hit[2] ? "s" : hit[3] ? "k" : "n", hit[0]]);
    from = hit.index + hit[0].length;
  }
  if (from < line.length) found.push(["", line.slice(from)]);
  return found;
}

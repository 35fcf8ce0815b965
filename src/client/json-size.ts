/** Checks the size of an answer before it is parsed, since its values can take far more memory than its bytes. */

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const [openBracket, closeBracket] = [0x5b, 0x5d];
const [openBrace, closeBrace] = [0x7b, 0x7d];

/** Maximum number of values. A history of 100,000 events has fewer. */
const maxValues = 2_000_000;
/** Deeper values overflow the stack of recursive code. */
const maxDepth = 100;

/** True for more than 2,000,000 values or 100 levels. The content of strings does not count. */
export function isOverlargeJson(body: Buffer): boolean {
  let [values, depth] = [0, 0];
  for (let at = 0; at < body.length; at += 1) {
    const byte = body[at] as number;
    if (byte === quote) {
      at = endOfText(body, at);
    } else if (byte === comma) {
      values += 1;
    } else if (byte === openBracket || byte === openBrace) {
      values += 1;
      depth += 1;
    } else if (byte === closeBracket || byte === closeBrace) {
      depth -= 1;
    }
    if (values > maxValues || depth > maxDepth) return true;
  }
  return false;
}

/** @returns the position of the closing quote, or the end of the body */
function endOfText(body: Buffer, from: number): number {
  for (let end = body.indexOf(quote, from + 1); end !== -1; end = body.indexOf(quote, end + 1)) {
    let backslashes = 0;
    while (body[end - 1 - backslashes] === backslash) backslashes += 1;
    if (backslashes % 2 === 0) return end;
  }
  return body.length;
}

/** The secrets that this process has read. Whoever reads one tells it here, so that it never leaves the process. */
import { SandflowError } from '../errors/sandflow-error.js';
import { addPattern, isKnown, removed } from '../errors/without-secrets.js';

/** A shorter text is a part of ordinary words, and removing it would damage them. */
const shortest = 8;

/**
 * Removes `secret` from every text that leaves this process from now on: as it is, percent-encoded, in a JSON string, in
 * base64 and in hex. Each line of a secret of several lines is a secret of its own. Safe to repeat.
 */
export function keepSecret(secret: string): void {
  for (const text of textsOf(secret)) if (!isKnown(text)) addPattern(text, patternOf(text));
}

/** Removes `secrets` from `text` as `keepSecret` would, but from no other text. */
export function withoutThese(secrets: readonly string[], text: string): string {
  return secrets.flatMap(textsOf).reduce((clean, secret) => clean.replace(patternOf(secret), removed), text);
}

/** A secret and its lines. */
function textsOf(secret: string): string[] {
  const lines = secret.split(/\r?\n|\r/).map((line) => line.trim());
  // The first and the last line of a PEM file are the same in all of them.
  return [secret.trim(), ...lines].filter((text) => text.length >= shortest && !text.startsWith('-----'));
}

/**
 * Keeps the secrets in a URL: its password, or the user name if that is all, and the parts of its
 * path and its query that look like tokens. Text that is not a URL holds none.
 */
export function keepUrlSecrets(text: string): void {
  if (!URL.canParse(text)) return;
  const url = new URL(text);
  const login = url.password || (/^https?:$/.test(url.protocol) ? url.username : '');
  const parts = url.pathname.split('/').map(decoded).filter(looksLikeToken);
  const values = [...url.searchParams]
    .filter(([name, value]) => looksSecret(name) || looksLikeToken(value))
    .map(([, value]) => value);
  for (const secret of [decoded(login), ...parts, ...values]) keepSecret(secret);
}

/** True if a parameter or a header with this name is likely to hold a secret. */
export function looksSecret(name: string): boolean {
  return /token|key|secret|sig|pass|auth|cookie/i.test(name);
}

function looksLikeToken(text: string): boolean {
  return text.length >= 16 && /\d/.test(text) && /[a-z]/i.test(text);
}

/**
 * Keeps a secret that becomes a header, and removes the line end and spaces around it.
 * @param setting where it comes from, for the message
 * @throws SandflowError `bad_api_key` if a header cannot carry the rest; the message does not quote it
 */
export function headerSecret(setting: string, given: string): string {
  keepSecret(given);
  const secret = given.trim();
  if (/^[\x21-\x7e]+$/.test(secret)) return secret;
  throw new SandflowError(
    'bad_api_key',
    `${setting} is empty, or contains characters that a header cannot carry, such as a space or a line end. Set it again.`,
  );
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function patternOf(text: string): RegExp {
  const bytes = Buffer.from(text);
  const forms = [text, bytes.toString('hex'), ...[0, 1, 2].map((offset) => base64At(bytes, offset))];
  return new RegExp(forms.map(formPattern).join('|'), 'g');
}

/** The characters that `bytes` have within any longer text in base64, if they begin at this offset in a group of three. */
function base64At(bytes: Buffer, offset: number): string {
  const encoded = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
  return encoded.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6));
}

/** Letters and digits match themselves. Others may be escaped, even repeatedly, as in a URL within JSON within JSON. */
function formPattern(form: string): string {
  return form.replace(/[^A-Za-z0-9\u0080-\uffff]/g, (character) => {
    const hex = (character.codePointAt(0) ?? 0).toString(16).padStart(2, '0');
    const eitherCase = hex.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
    const others = (otherSpellings[character] ?? []).map((one) => `|${one}`).join('');
    return `\\\\{0,8}(?:\\x${hex}|u00${eitherCase}|%(?:25)*${eitherCase}${others})`;
  });
}

/** Base64 in URLs uses other characters, and JSON shortens a line end. */
const otherSpellings: Readonly<Record<string, readonly string[]>> = { '+': ['-'], '/': ['_'], '\n': ['n'] };

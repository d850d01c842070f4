/** C0 control characters but tab, line feed and carriage return. */
const CONTROL = /[\0-\x08\x0b\x0c\x0e-\x1f]/;

/**
 * Whether columns take this text. PostgreSQL has no NUL and no half of a surrogate pair; the other control characters
 * mean nothing in a text, and each takes six bytes in every JSON answer.
 */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !CONTROL.test(text);
}

import { normalizeEmail } from '@app/database';

/**
 * The form of an email address: one @, a local part of 1 to 64 characters without whitespace, control characters or
 * separators of header lists, and a domain of at least two labels (RFC 5321). The last label is not a number, which
 * rules out IP addresses.
 */
const ADDRESS =
  /^[^\s@<>()[\]\\,;:"\p{C}]{1,64}@(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?\.)+(?!\p{N}+$)[\p{L}\p{N}][\p{L}\p{N}-]{0,61}[\p{L}\p{N}]$/u;
/** The limit of the columns, which hold the address as given and in lower case. */
const LONGEST = 254;
/** The Kelvin sign. Its lower case is the letter k, so the address would become another one. */
const KELVIN = '\u212a';
/** The reserved domain of addresses that can never receive mail (RFC 2606). */
const NOWHERE = '.invalid';

/** Whether the text, once trimmed, can be the address of an account or invite. */
export function isEmail(text: string): boolean {
  return isAddress(text) && !leadsNowhere(text);
}

/** Whether the text has the form of an address. Includes the placeholders of accounts without one. */
export function isAddress(text: string): boolean {
  const address = text.trim();
  const fits = [address, normalizeEmail(address)].every((form) => Array.from(form).length <= LONGEST);
  return fits && ADDRESS.test(address) && !/^\.|\.\.|\.@/.test(address) && !address.includes(KELVIN);
}

/** The placeholder address of an account that has no address. */
export function placeholderOf(id: string): string {
  return `${id}@placeholder${NOWHERE}`;
}

/** Whether no mail can reach the address. */
export function leadsNowhere(email: string): boolean {
  return normalizeEmail(email).endsWith(NOWHERE);
}

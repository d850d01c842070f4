import { domainToASCII, domainToUnicode } from 'node:url';
import { normalizeEmail } from '@app/database';

/** A local part of 1 to 64 characters, without whitespace, control characters and separators of header lists (RFC 5321). */
const LOCAL_PART = /^(?!\.)(?!.*\.(?:\.|$))[^\s@<>()[\]\\,;:"\p{C}]{1,64}$/u;
/** Letters of any script, and no Punycode: normalizing leaves only Punycode that cannot be decoded. */
const READABLE = /^(?!(?:.*\.)?xn--)[\p{L}\p{M}\p{N}.-]+$/u;
/** An ASCII domain of at least two labels. The last one is not a number, which rules out IP addresses. */
const DOMAIN = /^(?:[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?\.)+(?!\d+$)[a-z\d][a-z\d-]{0,61}[a-z\d]$/;
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
  const normalized = normalizeEmail(address);
  if ([address, normalized].some((form) => Array.from(form).length > LONGEST)) return false;
  const [local = '', domain = '', ...rest] = normalized.split('@');
  return rest.length === 0 && LOCAL_PART.test(local) && isDomain(domain) && !address.includes(KELVIN);
}

/** Whether mail for the domain reaches it. IDNA maps some domains to others (full-width letters); a mailbox would have several logins. */
function isDomain(domain: string): boolean {
  const ascii = domainToASCII(domain);
  return READABLE.test(domain) && DOMAIN.test(ascii) && domainToUnicode(ascii) === domain;
}

/** The placeholder address of an account that has no address. */
export function placeholderOf(id: string): string {
  return `${id}@placeholder${NOWHERE}`;
}

/** Whether no mail can reach the address. */
export function leadsNowhere(email: string): boolean {
  return normalizeEmail(email).endsWith(NOWHERE);
}

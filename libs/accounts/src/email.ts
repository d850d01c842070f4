/**
 * A valid email address: one @, a local part of 1 to 64 characters without whitespace, control characters or separators
 * of header lists, and a domain of at least two labels; 254 characters in total (RFC 5321).
 */
const ADDRESS =
  /^[^\s@<>()[\]\\,;:"\p{C}]{1,64}@(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?\.)+[\p{L}\p{N}][\p{L}\p{N}-]{0,61}[\p{L}\p{N}]$/u;
const LONGEST = 254;

/** Whether the trimmed text is a valid email address. */
export function isEmail(text: string): boolean {
  const address = text.trim();
  return address.length <= LONGEST && ADDRESS.test(address) && !/^\.|\.\.|\.@/.test(address);
}

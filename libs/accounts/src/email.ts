/**
 * What can be an email address: one @, a local part of 1 to 64 characters without blanks, controls or what separates
 * addresses in a header, and a domain of at least two labels. 254 characters in all, as RFC 5321 has it.
 */
const ADDRESS =
  /^[^\s@<>()[\]\\,;:"\p{C}]{1,64}@(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?\.)+[\p{L}\p{N}][\p{L}\p{N}-]{0,61}[\p{L}\p{N}]$/u;
const LONGEST = 254;

/** Whether the text, without its surrounding blanks, can be an email address. */
export function isEmail(text: string): boolean {
  const address = text.trim();
  return address.length <= LONGEST && ADDRESS.test(address) && !/^\.|\.\.|\.@/.test(address);
}

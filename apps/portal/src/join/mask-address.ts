/** An address as others may see it: `m•••@example.org`. Its owner recognizes it. */
export function maskAddress(email: string): string {
  const at = email.lastIndexOf('@');
  const [first = ''] = email;
  return `${first}•••${email.slice(at)}`;
}

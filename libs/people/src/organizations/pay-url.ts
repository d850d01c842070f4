const LONGEST = 500;

/** What stands for a value of the invoice. */
const PLACEHOLDER = /\{(invoice_number|amount_cents)\}/g;

/**
 * The address of a page at which an organization is paid, with placeholders for what is paid; null if it is none. They stand behind the host,
 * so that no invoice's number decides whom a family pays.
 */
export function readPayUrl(text: string): string | null {
  if (text.length > LONGEST || /[\s\p{Cc}]/u.test(text)) return null;
  const [, authority, rest] = /^https:\/\/([^/?#\\]+)(.*)$/iu.exec(text) ?? [];
  if (authority === undefined || /[{}@]/.test(authority) || /[{}\\]/.test(rest!.replaceAll(PLACEHOLDER, '')))
    return null;
  const filled = `https://${authority}${rest!.replaceAll(PLACEHOLDER, '0')}`;
  if (!URL.canParse(filled) || !new URL(filled).hostname.includes('.')) return null;
  return `https://${authority}${rest}`;
}

/** The address for one invoice. */
export function payUrlFor(template: string, invoice: { number: string; amountCents: bigint }): URL {
  const values: Record<string, string> = { invoice_number: invoice.number, amount_cents: String(invoice.amountCents) };
  return new URL(template.replaceAll(PLACEHOLDER, (_, name: string) => encodeURIComponent(values[name]!)));
}

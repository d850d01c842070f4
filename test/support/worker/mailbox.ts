import { Vault } from '@app/config';
import type { EmailPayload } from '@app/jobs';
import type { TestApi } from '../http/api.js';
import type { Factories } from '../data/factories.js';

/** A mail, as its recipient sees it. */
export interface ReceivedMail {
  kind: string;
  organizationId: string;
  /** The invite's secret, from the link. */
  token: string;
  /** The secret that only this mail contains, from the link. */
  proof: string;
}

/** All mails to an address, newest first. */
export async function mailsTo(api: TestApi, make: Factories, address: string): Promise<ReceivedMail[]> {
  const rows = await make.query<{ kind: string; organization_id: string; payload: Buffer }>(
    `SELECT kind, organization_id, payload FROM outbox WHERE topic = 'email' AND lower(recipient) = lower($1)
     ORDER BY created_at DESC, id DESC`,
    [address],
  );
  return rows.map(({ kind, organization_id, payload }) => {
    const opened = JSON.parse(api.app.get(Vault).open('outbox payloads', payload)) as EmailPayload;
    return { kind, organizationId: organization_id, token: tokenOf(opened.joinUrl ?? ''), proof: opened.proof ?? '' };
  });
}

/** The token or code at the end of a link. */
export function tokenOf(joinUrl: string): string {
  return joinUrl.slice(joinUrl.lastIndexOf('/') + 1);
}

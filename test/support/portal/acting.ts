import type { INestApplicationContext } from '@nestjs/common';
import { Approvals, type Asking, Codes, type Departure, JoinedByCode, Offboarding } from '@app/access';
import type { Actor, Exactly, Result, Worded } from '@app/audit';
import { Operations } from '@app/people';

/** What managers do about people, without its pages. */
export function acting({ app }: { app: INestApplicationContext }, organizationId: string, by: Actor) {
  const perform = async <Made extends Result>(operation: Worded, ids: object, run: () => Promise<Exactly<Made>>) =>
    (await app.get(Operations).perform(organizationId, by, operation, ids as never, run, { people: true }))!;
  const provisioner = { organizationId, organization: { name: 'Demo', timeZone: 'UTC' }, keyId: null };
  const decide =
    (decision: 'approve' | 'decline') =>
    (id: string, as: Asking = 'member') =>
      perform(`${decision}_${as}`, { user_id: id }, () => app.get(Approvals)[decision](provisioner, by, id, as));
  return {
    approve: decide('approve'),
    decline: decide('decline'),
    replace: async (id: string) => (await perform('replace code', {}, () => app.get(Codes).replace(organizationId, by, id))).answer,
    switchOff: (id: string) => perform('switch off code', { invite_id: id }, () => app.get(Codes).switchOff(organizationId, id)),
    undo: async (id: string, since: Date, until?: number) =>
      (await perform('undo joins', { invite_id: id }, () => app.get(JoinedByCode).undo(organizationId, by, id, since, until))).answer,
    end: (departure: Departure) =>
      perform('end membership', { user_id: departure.userId }, () => app.get(Offboarding).ended(organizationId, by, departure)),
  };
}

import { Injectable } from '@nestjs/common';
import { RetryTransaction } from '@app/database';
import { Refused } from '@app/rules';
import { AccountMails } from './account-mails.js';
import { Logins } from './logins.js';
import { Memberships } from './memberships.js';
import type { NewPerson, Provisioned, ProvisioningResult, Provisioner, RefusedPerson } from './people.js';
import { Plan } from './plan.js';
import { addressesOf, refusedByItself } from './refusals.js';

const KNOWN_CHILD =
  'This student is here already: link the parent to them instead. Another child without an address of their own is added without one.';

/** Creates accounts for people, or invites those who have one elsewhere. Each person is independent; a hundred take no more statements than one. */
@Injectable()
export class Provisioning {
  constructor(
    private readonly logins: Logins,
    private readonly memberships: Memberships,
    private readonly mails: AccountMails,
  ) {}

  /** Provisions one person inside the ambient transaction. @throws Refused at the field that cannot be accepted */
  async provisionOne(by: Provisioner, person: NewPerson): Promise<Provisioned> {
    const [result] = await this.provision(by, [person]);
    if (result!.status === 'error') throw Refused.invalidAt([result!.refusal]);
    if (result!.known && person.type === 'student' && person.parent) throw Refused.invalid(KNOWN_CHILD, 'parent');
    return result!;
  }

  /** Provisions inside the ambient transaction. @returns the results, in the order of `people` */
  async provision(by: Provisioner, people: (NewPerson | RefusedPerson)[]): Promise<ProvisioningResult[]> {
    const sound = people.filter((person): person is NewPerson => refusedByItself(person) === null);
    const given = sound.map(addressesOf).flatMap(({ own, parent }) => [own, parent]);
    const addresses = [...new Set(given.filter((address) => address !== null))];
    const [, known] = await Promise.all([
      this.logins.lockAddresses(by.organizationId, addresses),
      this.logins.find(by.organizationId, addresses),
    ]);
    const plan = new Plan(people, known);
    const [admit, added] = await Promise.all([
      this.mails.admission(by, plan.mails.map(({ to }) => to), true),
      plan.logins.size === 0 || this.logins.add([...plan.logins.values()]),
    ]); // prettier-ignore
    // Another organization has just created some of them; the next attempt will know them.
    if (!added) throw new RetryTransaction();
    const mails = admit(plan.mails);
    const mailed = new Set(mails.map(({ id }) => id));
    const [written] = await Promise.all([
      plan.writes ? this.memberships.write(by.organizationId, plan, mailed) : true,
      this.mails.queueAdmitted(by, mails),
    ]);
    if (!written || !(await this.logins.have(plan.offers))) throw new RetryTransaction();
    const invited = new Set(mails.map(({ place }) => place));
    return plan.decisions.map((decision, place) =>
      decision.status === 'error' ? decision : { ...decision, invited: invited.has(place) },
    );
  }
}

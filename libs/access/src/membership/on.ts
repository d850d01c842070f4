import { AuditLog } from '@app/audit';
import { type Env, Vault } from '@app/config';
import type { Database } from '@app/database';
import { Outbox } from '@app/jobs';
import { Invites, Logins, ClassMembers, ManagerNotices } from '@app/people';
import { departuresOn } from '@app/scheduling';
import { OffboardingSteps } from './offboarding-steps.js';
import { Managers } from './managers.js';
import { MembershipNotices } from './membership-notices.js';
import { Offboarding } from './offboarding.js';
import { Roles } from './member-roles.js';
import { WaysIn } from './ways-in.js';

/** For programs that are not Nest applications. */
export function membershipsOn(
  db: Database,
  env: Env,
): {
  offboarding: Offboarding;
  roles: Roles;
  notices: MembershipNotices;
} {
  const [vault, logins, audit] = [new Vault(env), new Logins(db), new AuditLog(db)];
  const places = new ClassMembers(db);
  const [managers, waysIn] = [new Managers(db), new WaysIn(db, new Invites(db, env, vault))];
  const outbox = new Outbox(db, vault, env);
  const notices = new MembershipNotices(db, env, outbox, new ManagerNotices(db, env, outbox));
  return {
    offboarding: new Offboarding(
      db,
      logins,
      new OffboardingSteps(db, places),
      places,
      departuresOn(db),
      managers,
      waysIn,
      notices,
      audit,
    ),
    notices,
    roles: new Roles(db, logins, managers, waysIn, notices, audit),
  };
}

import { AuditLog } from '@app/audit';
import { type Env, Vault } from '@app/config';
import type { Database } from '@app/database';
import { Outbox } from '@app/jobs';
import { Invites, Logins, Places } from '@app/people';
import { departuresOn } from '@app/scheduling';
import { Belongings } from './belongings.js';
import { Managers } from './managers.js';
import { ManagerNotices } from './manager-notices.js';
import { MembershipNotices } from './membership-notices.js';
import { Offboarding } from './offboarding.js';
import { Roles } from './member-roles.js';

/** For programs that are not Nest applications. */
export function membershipsOn(
  db: Database,
  env: Env,
): {
  offboarding: Offboarding;
  roles: Roles;
  managerNotices: ManagerNotices;
} {
  const [vault, logins, audit] = [new Vault(env), new Logins(db), new AuditLog(db)];
  const managers = new Managers(db, new Invites(db, env, vault));
  const notices = new MembershipNotices(db, env, new Outbox(db, vault, env));
  return {
    offboarding: new Offboarding(
      db,
      logins,
      new Belongings(db, new Places(db)),
      departuresOn(db),
      managers,
      notices,
      audit,
    ),
    managerNotices: new ManagerNotices(db, env, new Outbox(db, vault, env)),
    roles: new Roles(db, logins, managers, notices, audit),
  };
}

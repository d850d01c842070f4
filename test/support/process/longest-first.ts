import { createHash } from 'node:crypto';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Specs that take over 15 s, the longest first. At the end of a run they would leave the other workers idle. */
const LONG = [
  'cli/start', 'api/tenancy/tenancy-writes', 'portal/pages/pages', 'docs/readme', 'api/writes/killed-writes',
  'api/writes/replay-access', 'api/contract/docs-browser', 'api/blog/images-process', 'api/running/shutdown',
  'api/blog/images-temporary', 'docs/scripts', 'cli/commands', 'api/tenancy/tenancy', 'portal/belonging-model',
  'api/writes/every-write', 'api/running/deadlines', 'api/bodies/linear-work', 'api/money/histories', 'api/bodies/fuzz',
  'cli/embedded-postgres', 'cli/demo-reset', 'api/bodies/bodies', 'api/blog/images-refused', 'api/lists/lists-large',
  'worker/boundaries', 'portal/pages/sweep', 'api/blog/images-form', 'cli/import-rules', 'cli/demo',
  'api/bodies/bodies-fields', 'api/writes/idempotency', 'api/blog/images', 'api/people/managers', 'api/lists/lists-walk',
  'portal/pages/frozen', 'portal/pages/journeys-browser', 'api/lists/lists-filters', 'cli/embedded-postgres-roles',
  'portal/sign-in/lockout', 'portal/sign-in/password-attempts', 'portal/pages/shutdown', 'worker/relay',
  'portal/pages/removed-manager', 'api/tenancy/connection-tenant', 'api/writes/audit', 'cli/launcher',
  'api/lists/large-answers', 'api/auth/scopes', 'api/tenancy/tenancy-queries', 'api/people/readdressed',
  'api/writes/boundaries', 'api/contract/methods', 'api/people/who-has-left', 'portal/joining/declining',
  'cli/import-update', 'api/tenancy/identity-model', 'api/running/fairness',
].map((name) => `/test/${name}.spec.ts`); // prettier-ignore

/**
 * Runs the long files first, the others in a random order that the seed determines. A process ends when the next file is of
 * another project, and its successor loads everything again: so the few of a second project come before all others.
 */
export class LongestFirst extends BaseSequencer {
  override sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { seed } = this.ctx.config.sequence;
    const second = this.ctx.projects.at(-1);
    const placeOf = ({ moduleId, project }: TestSpecification) => {
      const place = LONG.findIndex((name) => moduleId.endsWith(name));
      const chance = createHash('sha1').update(`${seed} ${moduleId}`).digest('hex');
      const among = place < 0 ? chance : ` ${String(place).padStart(2, '0')}`;
      return project === second ? `  ${among}` : among;
    };
    return Promise.resolve(files.toSorted((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1)));
  }
}

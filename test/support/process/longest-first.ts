import { createHash } from 'node:crypto';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Specs that take over 15 s, the longest first. At the end of a run they would leave the other workers idle. */
const LONG = [
  'cli/start', 'portal/pages/pages', 'api/bodies/fuzz', 'docs/readme', 'api/writes/every-write', 'docs/scripts',
  'api/writes/killed-writes', 'api/tenancy/tenancy-writes', 'api/contract/docs-browser', 'portal/belonging-model',
  'api/blog/images-process', 'api/bodies/linear-work', 'api/bodies/bodies-fields', 'api/tenancy/tenancy', 'api/running/shutdown',
  'api/blog/images-temporary', 'portal/sign-in/password-link-kills', 'api/running/deadlines', 'api/auth/masks',
  'api/scheduling/calendar-model', 'cli/import', 'cli/demo-reset', 'database/read-copies', 'api/lists/lists-walk',
  'api/people/managers', 'api/contract/gate', 'api/lists/large-answers', 'portal/pages/sweep', 'portal/joining/declining',
  'portal/sign-in/password-attempts', 'api/tenancy/tenancy-queries', 'portal/joining/join-states', 'database/guards',
  'api/writes/audit', 'api/contract/methods', 'api/writes/boundaries', 'portal/sign-in/lockout', 'portal/pages/journeys-browser',
  'cli/import-update', 'api/bodies/bodies', 'cli/embedded-postgres-roles', 'cli/demo', 'worker/relay',
  'portal/pages/removed-manager', 'api/money/histories', 'api/writes/replay-access', 'api/writes/pairs', 'api/blog/images-refused',
  'cli/start-refused', 'cli/embedded-postgres', 'api/money/money-races',
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

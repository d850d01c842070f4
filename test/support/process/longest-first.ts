import { createHash } from 'node:crypto';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Specs that take over 15 s, the longest first. At the end of a run they would leave the other workers idle. */
const LONG = [
  'cli/start', 'docs/scripts', 'portal/pages/pages', 'loop', 'api/tenancy/tenancy-writes', 'portal/belonging-model',
  'api/tenancy/tenancy-queries', 'api/blog/images-temporary', 'api/tenancy/identity-model', 'api/running/shutdown',
  'cli/embedded-postgres', 'api/blog/images-refused', 'api/contract/docs-browser', 'api/blog/images-process',
  'worker/mail-refusals', 'cli/commands', 'portal/pages/sweep', 'api/lists/lists-cursors', 'api/blog/images-form',
  'portal/pages/removed-manager', 'api/bodies/fuzz', 'portal/pages/foreign-ids', 'api/contract/methods', 'api/tenancy/tenancy',
  'cli/demo-reset', 'api/contract/headers', 'worker/boundaries', 'portal/pages/journeys-browser', 'portal/pages/frozen',
  'portal/sign-in/password-attempts', 'api/lists/large-answers', 'api/running/deadlines', 'worker/relay',
  'api/writes/killed-bulk-invite', 'cli/embedded-postgres-roles', 'cli/demo', 'api/writes/audit', 'api/auth/masks',
  'portal/joining/declining', 'api/bodies/linear-work', 'docs/readme', 'portal/sign-in/lockout',
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

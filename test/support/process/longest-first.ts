import { createHash } from 'node:crypto';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Specs that take over 15 s, the longest first. At the end of a run they would leave the other workers idle. */
const LONG = [
  'portal/pages/pages', 'api/bodies/fuzz', 'api/tenancy/tenancy-writes', 'cli/start', 'portal/belonging-model', 'api/blog/images-refused',
  'docs/readme', 'portal/pages/journeys-browser', 'api/blog/images-temporary', 'portal/pages/sweep', 'api/running/shutdown',
  'api/blog/images-process', 'api/running/deadlines', 'api/bodies/linear-work', 'portal/sign-in/lockout', 'cli/start-refused',
  'api/tenancy/tenancy', 'api/lists/lists-walk', 'cli/demo', 'cli/demo-reset', 'api/lists/lists-large', 'api/bodies/bodies', 'api/bodies/hostile',
  'api/writes/killed-bulk-invite', 'api/lists/large-answers', 'api/blog/blog-races', 'api/writes/boundaries', 'portal/pages/keys-browser',
  'cli/embedded-postgres', 'api/money/histories', 'api/contract/order-of-refusal', 'api/writes/audit',
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

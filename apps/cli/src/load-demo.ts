import sql from 'sql-template-tag';
import { type GivenContact, OrganizationContacts } from '@app/accounts';
import { AuditLog, OPERATOR } from '@app/audit';
import { DEMO_PLACES, type DemoSize, writeDemo } from './demo/demo.js';
import { importFolder, type ImportReport } from './import/importer.js';
import { storePlaces } from './import/places.js';
import { Failure } from './output.js';
import type { CommandContext } from './command-context.js';

interface LoadedOrganization {
  slug: string;
  id: string;
  report: ImportReport;
}

/** Demo data from another seed exists. Its rows have different ids but the same addresses, so none can be added. */
export class OtherDemo extends Failure {
  constructor(slug: string, seed: number) {
    super(
      `The organization "${slug}" already exists, with data from another seed. ` +
        `To replace it: npm run --silent cli -- demo --reset --seed ${seed}`,
    );
  }
}

/** Writes and imports the demo organizations' folders, adding what is missing. @throws OtherDemo if they exist with another seed */
export async function loadDemo(
  context: Pick<CommandContext, 'env' | 'db' | 'organizations'>,
  options: { folder: string; size: DemoSize; seed: number; onProgress?: (text: string) => void; signal?: AbortSignal },
): Promise<LoadedOrganization[]> {
  const { env, db, organizations } = context;
  const { folder, size, seed, onProgress = () => undefined, signal } = options;
  const written = await writeDemo({
    folder,
    ...size,
    seed,
    brands: env.get('BLOG_BRANDS'),
    onProgress: (table, lines) => onProgress(`writing ${table}: ${lines} lines`),
  });
  for (const { slug, ownerId } of written) {
    const id = await organizations.idBySlug(slug);
    if (id && (await isOfOthers(context, id, ownerId))) throw new OtherDemo(slug, seed);
  }
  await storePlaces(env.migrationUrl, DEMO_PLACES);
  const loaded: LoadedOrganization[] = [];
  for (const { name, slug, timeZone, currency, ownerEmail, folder: source } of written) {
    signal?.throwIfAborted();
    const known = await organizations.idBySlug(slug);
    const id = known ?? (await organizations.create({ name, slug, timeZone, currency })).id;
    if (!known) await new OrganizationContacts(db, new AuditLog(db)).change(id, OPERATOR, contactOf(slug));
    const report = await importFolder({
      url: env.migrationUrl,
      organizationId: id,
      folder: source,
      onProgress: ({ table, lines }) => onProgress(`${slug}, ${table}: ${lines} lines`),
    });
    await organizations.addOwner(id, ownerEmail);
    loaded.push({ slug, id, report });
  }
  return loaded;
}

/** Addresses that lead nowhere, and a number that is reserved for fiction. */
function contactOf(slug: string): GivenContact {
  const site = `${slug}.example`;
  return {
    appUrl: `https://app.${site}`,
    postalAddress: '12 Wattle Lane, Carlton VIC 3053',
    phone: '+61 3 5550 1234',
    privacyUrl: `https://${site}/privacy`,
  };
}

/** Whether an organization has people, but not its demo owner. */
async function isOfOthers(
  { db }: Pick<CommandContext, 'db'>,
  organizationId: string,
  ownerId: string,
): Promise<boolean> {
  const [row] = await db.transaction({ organizationId }, () =>
    db.query<{ others: boolean }>(sql`
      SELECT count(*) > 0 AND NOT coalesce(bool_or(user_id = ${ownerId}), false) AS others FROM members
      WHERE organization_id = ${organizationId}`),
  );
  return row!.others;
}

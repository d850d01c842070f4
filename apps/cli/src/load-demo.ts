import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sql from 'sql-template-tag';
import { type Contact, CONTACT, Operations, Organizations, OrganizationSettings, type Typed } from '@app/people';
import { OPERATOR } from '@app/audit';
import type { Env } from '@app/config';
import { Database } from '@app/database';
import { DEMO_PLACES, type DemoOrganization, type DemoSize, writeDemo } from './demo/demo.js';
import { record } from './demo/recorded.js';
import { SAMPLE_CATALOGUE, sampleQuestions } from './demo/sample-questions.js';
import { importCatalogue } from './import/catalogue.js';
import { importFolder, type ImportReport } from './import/importer.js';
import { storePlaces } from './import/places.js';
import { Failure } from './output.js';
import { type Rules, withRules } from './rules.js';

interface LoadedOrganization {
  slug: string;
  id: string;
  report: ImportReport;
}

/**
 * Demo data of another seed or size exists. Rows of another seed have different ids but the same addresses, and another size bills
 * other lessons on invoices with the same numbers, so that none can be added.
 */
export class OtherDemo extends Failure {
  constructor(slug: string, { students }: DemoSize, seed: number) {
    super(
      `The organization "${slug}" already exists, with data of another seed or size. ` +
        `To replace it: npm run --silent cli -- demo --reset --size ${students} --seed ${seed}`,
    );
  }
}

/** Writes and imports the demo organizations' folders, adding what is missing. @throws OtherDemo if they exist with another seed or size */
export async function loadDemo(
  { env, rules }: { env: Env; rules: Rules },
  options: { folder: string; size: DemoSize; seed: number; onProgress?: (text: string) => void; signal?: AbortSignal },
): Promise<LoadedOrganization[]> {
  const organizations = rules.get(Organizations);
  const { folder, size, seed, onProgress = () => undefined, signal } = options;
  const written = await writeDemo({
    folder,
    ...size,
    seed,
    brands: env.get('BLOG_BRANDS'),
    onProgress: (table, lines) => onProgress(`writing ${table}: ${lines} lines`),
  });
  for (const organization of written) {
    const id = await organizations.idBySlug(organization.slug);
    if (id && (await isOther(rules.get(Database), id, organization)))
      throw new OtherDemo(organization.slug, size, seed);
  }
  await storePlaces(env.migrationUrl, DEMO_PLACES);
  await loadQuestions(env.migrationUrl, folder);
  const loaded: LoadedOrganization[] = [];
  for (const { name, slug, timeZone, currency, ownerEmail, folder: source } of written) {
    signal?.throwIfAborted();
    const known = await organizations.idBySlug(slug);
    const id = known ?? (await organizations.create({ name, slug, timeZone, currency })).id;
    const report = await importFolder({
      env,
      url: env.migrationUrl,
      organizationId: id,
      folder: source,
      onProgress: ({ table, lines }) => onProgress(`${slug}, ${table}: ${lines} lines`),
    });
    await organizations.addOwner(id, ownerEmail);
    await withRules(env, 'portal', async (inside) => {
      const change = async () => {
        const { changed } = await inside.get(OrganizationSettings).change(id, OPERATOR, CONTACT, contactOf(slug));
        return { audit: { fields: changed } };
      };
      if (!known) await inside.get(Operations).perform(id, OPERATOR, 'change settings', {}, change);
      await record(inside, id);
    });
    loaded.push({ slug, id, report });
  }
  return loaded;
}

/** Addresses that lead nowhere, and a number that is reserved for fiction. */
function contactOf(slug: string): Typed<keyof Contact> {
  const site = `${slug}.example`;
  return {
    appUrl: `https://app.${site}`,
    postalAddress: '12 Wattle Lane, Carlton VIC 3053',
    phone: '+61 3 5550 1234',
    privacyUrl: `https://${site}/privacy`,
  };
}

/** The catalogue of made-up questions. Nothing that exists is replaced. */
async function loadQuestions(url: string, folder: string): Promise<void> {
  const path = join(folder, 'questions.ndjson');
  await writeFile(
    path,
    sampleQuestions()
      .map((row) => `${JSON.stringify(row)}\n`)
      .join(''),
  );
  await importCatalogue({ url, catalogue: SAMPLE_CATALOGUE, path });
}

/** Whether an organization has people, but other ones than this demo. */
async function isOther(
  db: Database,
  organizationId: string,
  { ownerId, lastStudentId, nextStudentId }: DemoOrganization,
): Promise<boolean> {
  const has = (id: string) => sql`coalesce(bool_or(user_id = ${id}), false)`;
  const [row] = await db.transaction({ organizationId }, () =>
    db.query<{ other: boolean }>(sql`
      SELECT count(*) > 0 AND NOT (${has(ownerId)} AND ${has(lastStudentId)} AND NOT ${has(nextStudentId)}) AS other FROM members
      WHERE organization_id = ${organizationId}`),
  );
  return row!.other;
}

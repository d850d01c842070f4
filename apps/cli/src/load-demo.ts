import type { sizeOf } from './demo/demo.js';
import { writeDemo } from './demo/demo.js';
import { importFolder, type ImportReport } from './import/importer.js';
import type { Workplace } from './workplace.js';

export interface LoadedOrganization {
  slug: string;
  id: string;
  report: ImportReport;
}

/**
 * Writes the demo organizations' folders and imports them, as `import` would an organization's own. Organizations that
 * are there already take the rows that they lack.
 */
export async function loadDemo(
  { env, organizations }: Workplace,
  options: { folder: string; size: ReturnType<typeof sizeOf>; seed: number; onProgress: (text: string) => void },
): Promise<LoadedOrganization[]> {
  const { folder, size, seed, onProgress } = options;
  const written = await writeDemo({
    folder,
    ...size,
    seed,
    brands: env.get('BLOG_BRANDS'),
    onProgress: ({ table, lines }) => {
      onProgress(`writing ${table}: ${lines} lines`);
    },
  });
  const loaded: LoadedOrganization[] = [];
  for (const { name, slug, timeZone, currency, ownerEmail, folder: source } of written) {
    const id =
      (await organizations.idBySlug(slug)) ?? (await organizations.create({ name, slug, timeZone, currency })).id;
    const report = await importFolder({
      url: env.migrationUrl,
      organizationId: id,
      folder: source,
      onProgress: ({ table, lines }) => {
        onProgress(`${slug}, ${table}: ${lines} lines`);
      },
    });
    await organizations.addOwner(id, ownerEmail);
    loaded.push({ slug, id, report });
  }
  return loaded;
}

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeDemo } from '../../apps/cli/src/demo/demo.js';
import { importFolder } from '../../apps/cli/src/import/importer.js';
import { World } from '../database/world.js';

describe('demo', () => {
  it('imports', async () => {
    const world = await World.create();
    const folder = mkdtempSync(join(tmpdir(), 'demo-'));
    const orgs = await writeDemo({ folder, students: 60, seed: 1 });
    const ids: string[] = [];
    for (const o of orgs) {
      const id = await world.organization();
      ids.push(id);
      const t = Date.now();
      console.log(
        await importFolder({ url: world.urls.applicationUrl, organizationId: id, folder: o.folder }),
        Date.now() - t,
      );
    }
    for (const [i, o] of orgs.entries()) {
      const t = Date.now();
      const r = await importFolder({ url: world.urls.applicationUrl, organizationId: ids[i]!, folder: o.folder });
      console.log(
        Object.entries(r.tables).filter(([, v]) => v.inserted > 0),
        Date.now() - t,
      );
    }
    await world.destroy();
    rmSync(folder, { recursive: true });
  });
});

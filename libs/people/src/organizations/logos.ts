import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import type { Actor, Done } from '@app/audit';
import { Database } from '@app/database';
import { ManagerNotices } from './manager-notices.js';

/** What a logo fits into (pixels). */
export const LOGO_BOX = { width: 480, height: 160 };

/** The picture that an organization's papers begin with. */
@Injectable()
export class Logos {
  constructor(
    private readonly db: Database,
    private readonly notices: ManagerNotices,
  ) {}

  /** @returns a PNG; null if there is none */
  async current(organizationId: string): Promise<Buffer | null> {
    const [[row]] = await this.db.read<[{ png: string }]>(
      { organizationId },
      sql`SELECT png FROM logos WHERE organization_id = ${organizationId} AND in_use`,
    );
    return row ? Buffer.from(row.png, 'base64') : null;
  }

  /**
   * Prints another one from now on, or none, in the ambient transaction. One that an issued invoice names stays for it. All owners are told, as of
   * everything that invoices say of the seller.
   */
  async change(organizationId: string, by: Actor, png: Buffer | null): Promise<Done> {
    // Waits for invoices that are being issued: they name what is in use.
    await this.db.query(sql`SELECT FROM organizations WHERE id = ${organizationId} FOR UPDATE`);
    const [before] = await this.db.query<{ digest: string }>(sql`
      SELECT digest FROM logos WHERE organization_id = ${organizationId} AND in_use`);
    const digest = png && createHash('sha256').update(png).digest('hex');
    if (digest === (before?.digest ?? null)) return { changed: false };
    await this.db.query(sql`
      UPDATE logos SET in_use = NULL WHERE organization_id = ${organizationId} AND in_use`);
    if (png)
      await this.db.query(sql`
        INSERT INTO logos (organization_id, digest, png, in_use) VALUES (${organizationId}, ${digest}, ${png.toString('base64')}, true)
        ON CONFLICT (organization_id, digest) DO UPDATE SET in_use = true`);
    await this.db.query(sql`
      DELETE FROM logos l WHERE l.organization_id = ${organizationId} AND l.in_use IS NULL AND NOT EXISTS (
        SELECT FROM invoices i WHERE i.organization_id = ${organizationId} AND i.snapshot #>> '{seller,logo}' = l.digest)`);
    const change = {
      name: 'Logo',
      before: before ? 'A picture' : null,
      after: png && (before ? 'Another picture' : 'A picture'),
    };
    await this.notices.tell(organizationId, {
      kind: 'settings_changed',
      page: '/settings/invoices',
      owners: true,
      about: (nameOf) => ({ settings: { by: nameOf(by.userId), changes: [change] } }),
    });
    return { audit: { fields: ['logo'] } };
  }
}

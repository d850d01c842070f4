import { buffer } from 'node:stream/consumers';
import { Injectable } from '@nestjs/common';
import { type Asked, ReaderLinks } from '@app/access';
import { Vault } from '@app/config';
import { Refused } from '@app/rules';
import { objectOf, PrivateStorage } from '@app/storage';
import { Archive, type Found, type PaperKind, type Period } from './archive.js';
import { Renderer } from './renderer.js';

/** A paper, as it is served. */
export interface ServedPaper {
  /** In the private storage, unless it has `bytes`. */
  path: string;
  bytes?: Buffer;
  name: string;
  contentType: string;
  size: number;
}

const CONTENT_TYPE = 'application/pdf';

/**
 * What families get on paper. What cannot change is drawn when it is first asked for, and stored: from then on its bytes are the same, whatever becomes
 * of names, addresses and this program. Erasure knows the paths: no upload has one of them.
 */
@Injectable()
export class Papers {
  private readonly links: Record<PaperKind, ReaderLinks>;

  constructor(
    private readonly archive: Archive,
    private readonly storage: PrivateStorage,
    private readonly renderer: Renderer,
    vault: Vault,
  ) {
    this.links = {
      invoice: new ReaderLinks(vault, 'papers'),
      adjustmentNote: new ReaderLinks(vault, 'adjustment notes'),
      receipt: new ReaderLinks(vault, 'receipts'),
      statement: new ReaderLinks(vault, 'statements', true),
    };
  }

  /**
   * @param period of a statement
   * @returns the path of a link for this reader
   * @throws Refused for an unknown record, for one that only owners are shown any more, and while there is no such paper of it
   */
  async of(kind: PaperKind, asked: Asked, period?: Period): Promise<string> {
    const found = await this.archive.find(kind, asked.organizationId, asked.id, asked, period);
    if (!found) throw Refused.notFound();
    if (found.refused) throw found.refused;
    return `/papers/${this.links[kind].of({ ...asked, more: period && periodText(period) })}`;
  }

  /** What a link leads to; null if it was never made, has ended, or its reader may not read the paper any more. */
  async open(link: string): Promise<ServedPaper | null> {
    for (const kind of Object.keys(this.links) as PaperKind[]) {
      const asked = this.links[kind].open(link);
      if (!asked) continue;
      const { organizationId, id, more } = asked;
      const found = await this.archive.find(kind, organizationId, id, asked, more ? periodIn(more) : undefined);
      if (!found || found.refused) return null;
      const file = await this.fileOf(organizationId, found);
      const { name, path } = found;
      const served = { name, contentType: CONTENT_TYPE, size: file.length };
      return path === null ? { ...served, path: '', bytes: file } : { ...served, path };
    }
    return null;
  }

  /** A paper that is mailed to whom it names; null if there is none, or only owners are shown it any more. */
  async toMail(kind: PaperKind, organizationId: string, id: string): Promise<{ name: string; file: Buffer } | null> {
    const found = await this.archive.find(kind, organizationId, id, null);
    return found && !found.refused ? { name: found.name, file: await this.fileOf(organizationId, found) } : null;
  }

  /** As it was first drawn, which may be now. */
  private async fileOf(organizationId: string, { path, paper }: Found): Promise<Buffer> {
    const stored = path && (await this.storage.read(path));
    if (stored) return buffer(stored);
    const printed = paper();
    const logo = await this.archive.logo(organizationId, printed);
    const file = await this.renderer.draw({ ...printed, logo }, organizationId);
    if (path) await this.storage.put(path, objectOf(CONTENT_TYPE, file));
    return file;
  }
}

/** Two days as a link says them. */
const periodText = ({ from, to }: Period): string =>
  `${from}${to}`
    .replaceAll('-', '')
    .padEnd(32, '0')
    .replace(/(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');

function periodIn(text: string): Period {
  const days = text.replaceAll('-', '').replace(/(.{4})(..)(..)(.{4})(..)(..).*/, '$1-$2-$3 $4-$5-$6');
  const [from, to] = days.split(' ') as [string, string];
  return { from, to };
}

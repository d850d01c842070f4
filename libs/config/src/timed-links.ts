import { createHmac, timingSafeEqual } from 'node:crypto';

/** How long a link serves (ms). */
const LIFETIME_MS = 15 * 60_000;

const MAC_BYTES = 16;
const ID_BYTES = 16;

/** Links that name some ids and when they end, and are signed. Who may open one is looked up when it is opened. */
export class TimedLinks {
  /** @param secret of one purpose @param count of the ids */
  constructor(
    private readonly secret: Buffer,
    private readonly count: number,
  ) {}

  of(...ids: string[]): string {
    const ends = Buffer.alloc(6);
    ends.writeUIntBE(Date.now() + LIFETIME_MS, 0, 6);
    const named = Buffer.concat([...ids.map(toBytes), ends]);
    return Buffer.concat([named, this.sign(named)]).toString('base64url');
  }

  /** @returns the ids; null if it was never made with this secret, or has ended */
  open(link: string): string[] | null {
    const bytes = Buffer.from(link, 'base64url');
    const length = this.count * ID_BYTES + 6;
    // Compared as text too: base64url has several spellings of the same last bits.
    if (bytes.length !== length + MAC_BYTES || bytes.toString('base64url') !== link) return null;
    const named = bytes.subarray(0, length);
    if (!timingSafeEqual(bytes.subarray(length), this.sign(named))) return null;
    if (named.readUIntBE(length - 6, 6) <= Date.now()) return null;
    return Array.from({ length: this.count }, (_, place) =>
      toUuid(named.subarray(place * ID_BYTES, (place + 1) * ID_BYTES)),
    );
  }

  private sign(named: Buffer): Buffer {
    return createHmac('sha256', this.secret).update(named).digest().subarray(0, MAC_BYTES);
  }
}

const toBytes = (uuid: string) => Buffer.from(uuid.replaceAll('-', ''), 'hex');
const toUuid = (bytes: Buffer) => bytes.toString('hex').replace(/(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');

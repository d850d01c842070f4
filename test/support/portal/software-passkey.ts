import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';

const sha256 = (text: string | Buffer) => createHash('sha256').update(text).digest();
/** Present and verified; with a new credential. */
const USED = 0x05;
const CREATED = 0x45;

/** What the server asks a browser for, as far as it matters here. */
export interface CreationOptions {
  challenge: string;
  rp: { id: string };
}

export interface RequestOptions {
  challenge: string;
  rpId: string;
}

/** A passkey of a device, for tests without a browser. */
export class SoftwarePasskey {
  readonly id = randomBytes(16);
  private readonly keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  private uses = 0;

  /** What the browser sends when it has created this passkey. */
  create({ challenge, rp }: CreationOptions, origin: string): object {
    const { x, y } = this.keys.publicKey.export({ format: 'jwk' });
    const [across, up] = [x!, y!].map((part) => Buffer.from(part, 'base64url'));
    // COSE: an EC2 key for ES256 on P-256.
    const key = Buffer.concat([Buffer.from('a5010203262001215820', 'hex'), across!, Buffer.from('225820', 'hex'), up!]);
    const named = Buffer.concat([Buffer.alloc(16), Buffer.from([0, this.id.length]), this.id, key]);
    const data = Buffer.concat([this.dataFor(rp.id, CREATED), named]);
    // CBOR: {fmt: 'none', attStmt: {}, authData: …}, with a length of one byte.
    const attestation = Buffer.concat([
      Buffer.from('a363666d74646e6f6e656761747453746d74a068617574684461746158', 'hex'),
      Buffer.from([data.length]),
      data,
    ]);
    return this.answer({ clientDataJSON: clientData('webauthn.create', challenge, origin), attestationObject: attestation });
  }

  /** What the browser sends when this passkey is used. */
  use({ challenge, rpId }: RequestOptions, origin: string): object {
    const data = this.dataFor(rpId, USED);
    const clientDataJSON = clientData('webauthn.get', challenge, origin);
    const signature = sign('sha256', Buffer.concat([data, sha256(clientDataJSON)]), this.keys.privateKey);
    return this.answer({ clientDataJSON, authenticatorData: data, signature });
  }

  private dataFor(site: string, flags: number): Buffer {
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(++this.uses);
    return Buffer.concat([sha256(site), Buffer.from([flags]), counter]);
  }

  private answer(parts: Record<string, Buffer>): object {
    const id = this.id.toString('base64url');
    const response = Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, part.toString('base64url')]));
    return { id, rawId: id, type: 'public-key', response, clientExtensionResults: {} };
  }
}

function clientData(type: string, challenge: string, origin: string): Buffer {
  return Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }));
}

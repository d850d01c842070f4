import { randomBytes } from 'node:crypto';
import { ApiKeys, type NewApiKey, type Overlap } from '@app/access';
import { loadEnv, Vault } from '@app/config';
import { connect, Database } from '@app/database';
import { rulesOn } from '../../../apps/cli/src/rules.js';
import type { Tables } from '../database/tables.js';
import type { EmailPayload } from '@app/jobs';
import { TestApi } from '../http/api.js';
import { Factories } from './factories.js';

export const HOUR = 3_600_000;
export const DAY = 24 * HOUR;

/** The service that changes API keys, on the API's real database. Each test has its own organization and owner. */
export class KeyChanges {
  school!: string;
  owner!: Tables['users'];

  private constructor(
    readonly api: TestApi,
    readonly make: Factories,
    readonly keys: ApiKeys,
    private readonly vault: Vault,
    private readonly disconnect: () => Promise<void>,
  ) {}

  static async open(): Promise<KeyChanges> {
    const settings = {
      ENCRYPTION_KEY: randomBytes(32).toString('hex'),
      SMTP_URL: 'smtp://127.0.0.1:1',
      APP_URL: 'https://app.example.org',
      // Mails about keys do not count against this limit.
      INVITE_MAILS_PER_DAY: '1',
    };
    const api = await TestApi.start(settings);
    const make = await Factories.connect(api.database);
    const env = loadEnv({ ...settings, DATABASE_URL: api.database.applicationUrl }, {});
    const dataSource = await connect({ url: api.database.ownerUrl, poolSize: 12, applicationName: 'tutoring tests' });
    const keys = (await rulesOn(new Database(dataSource), env)).get(ApiKeys);
    return new KeyChanges(api, make, keys, new Vault(env), () => dataSource.destroy());
  }

  async reset(): Promise<void> {
    this.school = (await this.make.organization({ name: 'Brighter Days' })).id;
    this.owner = await this.make.member(this.school, { role: 'owner', user: { firstName: 'Olive', lastName: 'Owner' } });
  }

  async close(): Promise<void> {
    await this.make.close();
    await this.disconnect();
    await this.api.stop();
  }

  person() {
    return { userId: this.owner.id, requestId: `request-${this.owner.id}` };
  }

  create(wanted: Partial<NewApiKey> = {}) {
    return this.keys.create(this.school, { name: 'Site', ...wanted }, this.person());
  }

  replace(id: string, overlap: Overlap = '24h') {
    return this.keys.replace(this.school, id, { overlap }, this.person());
  }

  row(id: string) {
    return this.make.find('api_keys', id);
  }

  /** The status of a request with this key. */
  async statusOf(key: string): Promise<number> {
    return (await this.api.get('/v1/me', key)).status;
  }

  audit() {
    return this.make.query<{ operation: string; user_id: string }>(
      'SELECT * FROM audit_log WHERE organization_id = $1 AND api_key_id IS NULL ORDER BY created_at, id',
      [this.school],
    );
  }

  /** All mails of the school; each notice that another one takes in counts as one. */
  async mails() {
    const rows = await this.make.query<{ kind: string; recipient: string; payload: Buffer }>(
      `SELECT kind, recipient, one AS payload FROM outbox, unnest(array_prepend(payload, gathered)) WITH ORDINALITY g (one, n)
       WHERE organization_id = $1 ORDER BY created_at, id, n`,
      [this.school],
    );
    return rows.map(({ kind, recipient, payload: sealed }) => {
      const payload = JSON.parse(this.vault.open('outbox payloads', sealed)) as EmailPayload;
      return { kind: payload.notice?.kind ?? kind, to: recipient, payload };
    });
  }
}

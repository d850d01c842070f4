import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { EnvError, loadEnv, settingNames } from '@app/config';

const example = readFileSync(fileURLToPath(new URL('../.env.example', import.meta.url)), 'utf8');
const documented = [...example.matchAll(/^([A-Z0-9_]+)=(.*)$/gm)].map(([, name, value]) => ({
  name: name!,
  value: value!,
}));

describe('.env.example', () => {
  it('lists exactly the variables that are read, in their order, each with a comment', () => {
    expect(documented.map(({ name }) => name)).toEqual(settingNames);
    for (const { name } of documented) expect(example).toMatch(new RegExp(`^# .+\n${name}=`, 'm'));
  });

  it('shows the defaults', () => {
    const values = Object.fromEntries(documented.map(({ name, value }) => [name, value]));
    const [shown, actual] = [loadEnv({}, values), loadEnv({}, {})];
    for (const name of settingNames) expect([name, shown.get(name)]).toEqual([name, actual.get(name)]);
  });
});

describe('docker-compose.yml', () => {
  it('tells API and worker the address of their own role, and nobody but the operator the owner’s', () => {
    const text = readFileSync(fileURLToPath(new URL('../docker-compose.yml', import.meta.url)), 'utf8');
    const [, services = ''] = text.split(/^services:$/m);
    const [, ...blocks] = services.split(/^ {2}([a-z]+):$/m);
    const owners: string[] = [];
    for (let index = 0; index < blocks.length; index += 2) {
      const [name, block] = [blocks[index]!, blocks[index + 1]!];
      if (/\*database|MIGRATION_DATABASE_URL|OWNER_DATABASE_PASSWORD/.test(block)) owners.push(name);
    }
    expect(owners).toEqual(['roles', 'migrate', 'cli']);
    expect(text.match(/tutoring_owner/g)).toHaveLength(1);
    expect(text).not.toMatch(/POSTGRES_USER/);
    // No password has a default.
    for (const [variable] of text.matchAll(/\$\{[A-Z_]*PASSWORD[^}]*\}/g)) expect(variable).toMatch(/:\?/);
  });
});

describe('loadEnv', () => {
  it('names every fault at once, and no value', () => {
    const source = { PORT: '99999', DATABASE_URL: 'mysql://secret@host', BLOG_BRANDS: 'one', TRUST_PROXY: 'maybe' };
    const error = catchError(() => loadEnv({}, source));
    expect(error).toBeInstanceOf(EnvError);
    expect((error as EnvError).faults.map((fault) => fault.split(' ')[0])).toEqual([
      'PORT',
      'TRUST_PROXY',
      'DATABASE_URL',
      'BLOG_BRANDS',
    ]);
    expect((error as EnvError).message).not.toMatch(/secret|99999|maybe/);
  });

  it.each([
    ['PORT', '1e3'],
    ['PORT', '-1'],
    ['PORT', ' 80'],
    ['DATABASE_POOL_SIZE', '0'],
    ['ENCRYPTION_KEY', 'short'],
    ['API_KEY_PREFIX', 'TK'],
    ['LOG_LEVEL', 'loud'],
    ['BLOG_BRANDS', 'a,a'],
    ['REDIS_URL', 'localhost:6379'],
    ['NODE_ENV', 'prod'],
  ])('refuses %s=%s', (name, value) => {
    expect(() => loadEnv({}, { [name]: value })).toThrow(new RegExp(`- ${name} must be`));
  });

  it('takes an empty variable for an unset one', () => {
    expect(loadEnv({}, { PORT: '', REDIS_URL: '' }).get('PORT')).toBe(3000);
  });

  it('reads a secret from the file that NAME_FILE names, and says when it cannot', () => {
    const folder = mkdtempSync(join(tmpdir(), 'tutoring-env-'));
    const file = join(folder, 'key');
    writeFileSync(file, `${'ab'.repeat(32)}\n`);
    expect(loadEnv({}, { ENCRYPTION_KEY_FILE: file }).get('ENCRYPTION_KEY')).toBe('ab'.repeat(32));
    rmSync(folder, { recursive: true });
    expect(() => loadEnv({}, { ENCRYPTION_KEY_FILE: file })).toThrow('ENCRYPTION_KEY_FILE cannot be read (ENOENT)');
  });

  it('says plainly what is missing when it is needed', () => {
    expect(() => loadEnv({}, {}).need('DATABASE_URL')).toThrow('DATABASE_URL is not set');
  });
});

function catchError(work: () => unknown): unknown {
  try {
    work();
    return undefined;
  } catch (error) {
    return error;
  }
}

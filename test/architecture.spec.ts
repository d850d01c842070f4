import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const root = fileURLToPath(new URL('..', import.meta.url));

interface Source {
  /** From the repository's root, with slashes. */
  path: string;
  text: string;
  /** Import specifiers, `@app/x` and relative ones resolved to paths from the root; packages as they are. */
  imports: string[];
}

const sources: Source[] = ['apps', 'libs', 'test', 'bench']
  .flatMap((folder) => readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)))
  .filter((path) => path.endsWith('.ts'))
  .map((path) => {
    const text = readFileSync(join(root, path), 'utf8');
    const specifiers = [...text.matchAll(/(?:from|import)\s+'([^']+)'/g)].map((match) => match[1]!);
    const imports = specifiers.map((specifier) => (specifier.startsWith('.') ? relative(root, resolve(root, dirname(path), specifier)) : specifier));
    return { path, text, imports };
  });

const product = sources.filter(({ path }) => /^(apps|libs)\//.test(path) && !path.endsWith('.spec.ts'));

/** Every import that a rule forbids, as "importer -> imported"; a test expects none. */
function breaches(from: RegExp, forbidden: (imported: string, importer: string) => boolean): string[] {
  return product
    .filter(({ path }) => from.test(path))
    .flatMap(({ path, imports }) => imports.filter((imported) => forbidden(imported, path)).map((imported) => `${path} -> ${imported}`));
}

const appOf = (path: string) => /^apps\/([^/]+)/.exec(path)?.[1];
const libOf = (path: string) => /^libs\/([^/]+)/.exec(path)?.[1];
const areaOf = (path: string) => /^apps\/api\/src\/areas\/([^/]+)/.exec(path)?.[1];

/** A folder of an area, or a file that holds a whole resource; undefined for what an area keeps beside its resources. */
function resourceOf(path: string): string | undefined {
  const [, area, name, rest] = /^apps\/api\/src\/areas\/([^/]+)\/([^/]+?)(\/.*|\.(?:module|controller)\.[jt]s)$/.exec(path) ?? [];
  const own = name === 'media' || (name === area && !rest?.startsWith('/'));
  return own ? undefined : name;
}

/** The first segments, after the version, of the routes that a controller or a declaration serves. */
function firstSegments(text: string): string[] {
  const [, prefix = ''] = /@Controller\('v1\/?([^']*)'\)/.exec(text) ?? [];
  const routes = [...text.matchAll(/@(?:Get|Post|Put|Patch|Delete)\((?:'([^']*)'(?:, \d+)?)?\)/g)];
  const declared = [...text.matchAll(/^ +(?:path: 'v1|route: ['`]\w+ \/v1)\/([^'`]*)['`]/gm)].map(([, path]) => path!);
  const paths = [...routes.map(([, route = '']) => `${prefix}/${route}`), ...declared];
  return paths.flatMap((path) => path.split('/').find((part) => part !== '') ?? []);
}

/** The services whose every method passes a request on to one rule, besides noting and answering what it did. */
function forwarders(text: string): string[] {
  const some = (node: ts.Node, holds: (node: ts.Node) => boolean): number => {
    let count = holds(node) ? 1 : 0;
    ts.forEachChild(node, (child) => void (count += some(child, holds)));
    return count;
  };
  const decides = (node: ts.Node) =>
    ts.isTaggedTemplateExpression(node) || ts.isThrowStatement(node) || ts.isNewExpression(node) || ts.isIterationStatement(node, false);
  const classes = ts.createSourceFile('', text, ts.ScriptTarget.Latest, true).statements.filter(ts.isClassDeclaration);
  const services = classes.filter((one) => !one.heritageClauses && /^@Injectable\(/.test(ts.getDecorators(one)?.[0]?.getText() ?? ''));
  const forward = ({ members }: ts.ClassDeclaration) => {
    const injected = members.filter(ts.isConstructorDeclaration).flatMap(({ parameters }) => [...parameters]);
    const rules = injected.filter(({ type }) => !/^(Records|Audit|Database)$/.test(type!.getText())).map(({ name }) => `this.${name.getText()}.`);
    const asks = (node: ts.Node) => ts.isCallExpression(node) && rules.some((rule) => node.expression.getText().startsWith(rule));
    const methods = members.filter(ts.isMethodDeclaration);
    return rules.length > 0 && methods.every((method) => some(method, decides) === 0 && some(method, asks) <= 1);
  };
  return services.filter(forward).map(({ name }) => name!.text);
}

describe('imports', () => {
  it('apps never import apps, and nothing imports tests', () => {
    expect(breaches(/^apps\//, (imported, importer) => /^apps\//.test(imported) && appOf(imported) !== appOf(importer))).toEqual([]);
    expect(breaches(/./, (imported) => /^(test|bench)\//.test(imported))).toEqual([]);
  });

  it('libraries never import apps, and import each other only as listed', () => {
    const may: Record<string, string[]> = {
      concurrency: [],
      config: [],
      events: ['database'],
      jobs: ['config', 'database'],
      logging: ['config'],
      routing: [],
      fields: ['config', 'database', 'people', 'scheduling'],
      rules: [],
      rows: ['database', 'people', 'rules'],
      billing: ['audit', 'database', 'people', 'rows', 'rules', 'scheduling'],
      scheduling: ['config', 'database', 'rules'],
      enquiries: ['concurrency', 'config', 'database', 'people', 'rows', 'rules', 'scheduling'],
      erasure: ['audit', 'config', 'database', 'rules', 'storage'],
      images: ['concurrency', 'logging'],
      papers: ['access', 'billing', 'concurrency', 'config', 'database', 'logging', 'people', 'rules', 'storage'],
      exports: ['audit', 'config', 'database', 'people', 'rules', 'storage'],
      families: ['database', 'jobs', 'people', 'rules', 'scheduling'],
      database: ['concurrency', 'config', 'rules'],
      audit: ['database'],
      messaging: ['database', 'jobs', 'people', 'rules', 'scheduling'],
      teaching: ['access', 'config', 'database', 'people', 'rows', 'rules', 'scheduling'],
      people: ['audit', 'config', 'database', 'jobs', 'rules'],
      access: ['audit', 'config', 'database', 'jobs', 'people', 'rules', 'scheduling'],
      publishing: ['config', 'database', 'jobs', 'rules'],
      webhooks: ['audit', 'config', 'database', 'jobs', 'rules'],
      storage: ['config'],
      serving: ['concurrency', 'config', 'logging'],
    };
    expect(Object.keys(may).sort()).toEqual([...new Set(product.map(({ path }) => libOf(path)).filter((lib) => lib !== undefined))].sort());
    expect(breaches(/^libs\//, (imported) => /^apps\//.test(imported))).toEqual([]);
    expect(
      breaches(/^libs\//, (imported, importer) => {
        const name = /^@app\/(.+)$/.exec(imported)?.[1];
        return name !== undefined && !may[libOf(importer)!]!.includes(name);
      }),
    ).toEqual([]);
  });

  it('a library is imported by its name from outside and by relative paths from inside', () => {
    expect(breaches(/./, (imported, importer) => /^libs\//.test(imported) && libOf(imported) !== libOf(importer))).toEqual([]);
    expect(breaches(/^libs\//, (imported, importer) => imported === `@app/${libOf(importer)!}`)).toEqual([]);
    expect(breaches(/./, (imported) => /^@app\/[^/]+\//.test(imported))).toEqual([]);
  });

  it('inside the API, the module may import every folder, areas only the door of http, and http none', () => {
    const door = 'apps/api/src/http/kit.js';
    const roomOf = (path: string) => /^apps\/api\/src\/([^/]+)/.exec(path)?.[1];
    const leaves = (imported: string, importer: string) => roomOf(imported) !== undefined && roomOf(imported) !== roomOf(importer);
    expect(breaches(/^apps\/api\/src\/http\//, (...at) => leaves(...at) || at[0] === door)).toEqual([]);
    expect(breaches(/^apps\/api\/src\/health\//, (...at) => leaves(...at) && roomOf(at[0]) !== 'http')).toEqual([]);
    expect(breaches(/^apps\/api\/src\/areas\//, (...at) => leaves(...at) && at[0] !== door)).toEqual([]);
  });

  it('inside http/, imports point one way', () => {
    const order = [
      'errors', 'metrics', 'request-log', 'request', 'rate-limit', 'views', 'auth', 'routing', 'validation', 'lists', 'writes', 'openapi',
    ]; // prettier-ignore
    const layerOf = (path: string) => order.indexOf(/^apps\/api\/src\/http\/([^/]+)\//.exec(path)?.[1] ?? '');
    const folders = readdirSync(join(root, 'apps/api/src/http'), { withFileTypes: true });
    expect(folders.flatMap((entry) => (entry.isDirectory() ? [entry.name] : [])).sort()).toEqual([...order].sort());
    expect(breaches(/^apps\/api\/src\/http\/[^/]+\//, (imported, importer) => layerOf(imported) > layerOf(importer))).toEqual([]);
  });

  it('inside the portal, only the module may import its siblings, and web imports no area', () => {
    expect(breaches(/^apps\/portal\/src\/web\//, (imported) => /^apps\/portal\/src\/(?!web\/)/.test(imported))).toEqual([]);
    expect(breaches(/^apps\/portal\/src\/[^/]+\//, (imported) => /^apps\/portal\/src\/[^/]+$/.test(imported))).toEqual([]);
  });

  it.each([
    ['an area', areaOf],
    ['a resource', resourceOf],
  ])('%s imports nothing from another', (_kind, nameOf) => {
    const between = (imported: string, importer: string) =>
      nameOf(imported) !== undefined && nameOf(importer) !== undefined && nameOf(imported) !== nameOf(importer);
    expect(breaches(/./, between)).toEqual([]);
  });
});

describe('one place for each thing', () => {
  const files = (pattern: RegExp, among = product) => among.filter(({ text }) => pattern.test(text)).map(({ path }) => path);

  it('only env.ts reads the environment', () => {
    expect(files(/\bprocess\.env\b/)).toEqual(['libs/config/src/env.ts']);
  });

  it('only queues.module.ts configures Bull', () => {
    expect(files(/BullModule\./)).toEqual(['apps/worker/src/queues.module.ts']);
  });

  it('only the envelope interceptor and the error formats write envelopes', () => {
    expect(files(/\{"data":/)).toEqual(['apps/api/src/http/lists/envelope.interceptor.ts']);
    expect(files(/\{ error: \{|\{ detail:/)).toEqual(['apps/api/src/http/errors/error-formats.ts']);
  });

  it('the API names the class of a query or body once to the validation guard and once to TypeScript, alike', () => {
    const api = product.filter(({ path }) => /^apps\/api\/src\//.test(path));
    expect(files(/@(Body|Query)\(/, api)).toEqual([]);
    const declared = api.flatMap(({ text }) => [...text.matchAll(/@Valid(?:Body|Query)\(([A-Z]\w+)\) \w+: (\w+)/g)]);
    expect(declared.length).toBeGreaterThan(3);
    expect(declared.filter(([, named, type]) => named !== type).map(([text]) => text)).toEqual([]);
  });

  it('only one function numbers advisory locks', () => {
    expect(files(/hashtext/i).filter((path) => path !== 'libs/database/src/locks.ts')).toEqual([]);
  });

  it('nobody shares a lock on a row: whoever wants it alone would wait for ever newer sharers', () => {
    // A foreign key's own lock, which only a change of the key waits for, is another matter.
    expect(files(/FOR SHARE/)).toEqual([]);
  });

  it('the portal writes for an organization only as one of its managers', () => {
    const portal = product.filter(({ path }) => path.startsWith('apps/portal/'));
    // It takes a new key from where it was kept, once, to show it.
    expect(files(/\.transaction\(/, portal)).toEqual(['apps/portal/src/keys/hand-overs.ts']);
  });

  it('has no barrels except those of libraries and migrations', () => {
    const indexes = product.map(({ path }) => path).filter((path) => path.endsWith('/index.ts'));
    const allowed = /^libs\/([^/]+\/src|database\/src\/migrations)\/index\.ts$/;
    expect(indexes.filter((path) => !allowed.test(path))).toEqual([]);
  });

  it('has no folder for miscellany', () => {
    const drawer = /(^|\/)(common|shared|utils?|helpers?)(\/|\.ts$)/;
    expect(product.map(({ path }) => path).filter((path) => drawer.test(path))).toEqual([]);
  });

  it('a resource has only the listed kinds of file', () => {
    const kinds = /\/([a-z-]+)\/\1\.(module|controller|guard|service|queries|dto|view)\.ts$|^[^.]*\/areas\/[a-z]+\/[a-z-]+\.(module|controller)\.ts$/;
    const strays = product.map(({ path }) => path).filter((path) => resourceOf(path) && !kinds.test(path));
    expect(strays).toEqual([]);
  });

  it('a resource’s folder is named after the first segment of its paths', () => {
    const segments = new Map<string, string[]>();
    for (const { path, text } of product) {
      const folder = resourceOf(path);
      if (folder) segments.set(folder, [...(segments.get(folder) ?? []), ...firstSegments(text)]);
    }
    expect(segments.size).toBeGreaterThan(10);
    expect([...segments].flatMap(([folder, served]) => (served.includes(folder) ? [] : [folder]))).toEqual([]);
  });

  it('every write is one unit of work, and every resource that can be written to has a spec', () => {
    const controllers = product.filter(({ path }) => resourceOf(path) && path.endsWith('.controller.ts'));
    const bare = /import \{[^}]*\b(Post|Put|Patch|Delete)\b[^}]*\} from '@nestjs\/common'/;
    expect(files(bare, controllers)).toEqual([]);
    const written = controllers.filter(({ text }) => /@(Post|Put|Patch|Delete)\(|writeController\(/.test(text));
    expect(written.length).toBeGreaterThan(7);
    const specs = sources.filter(({ path }) => /^test\/api\/.*\.spec\.ts$/.test(path)).map(({ text }) => text);
    const named = (segment: string) => specs.some((text) => new RegExp(`['"\`]/v1/${segment}\\b`).test(text));
    expect(written.flatMap(({ text }) => firstSegments(text)).filter((segment) => !named(segment))).toEqual([]);
  });

  it('no service only forwards to a rule: writeController, readController and the controllers of pages call it', () => {
    const services = product.filter(({ path }) => areaOf(path) || /^apps\/portal\/.*\.service\.ts$/.test(path));
    expect(services.flatMap(({ text }) => forwarders(text))).toEqual([]);
    const planted = (body: string) => `@Injectable() class Planted {
      constructor(private readonly records: Records, private readonly rule: Rule, private readonly audit: Audit) {}
      async create(caller: Caller, body: Body) { ${body} this.audit.note({ id }); return this.records.written(caller, SHOWN, id); }
    }`;
    expect(forwarders(planted('const id = await this.rule.add(caller.organizationId, body.name ?? null);'))).toEqual(['Planted']);
    expect(forwarders(planted('const id = await this.rule.add(sql`SELECT 1`);'))).toEqual([]);
  });

  it('no file has more than 300 lines', () => {
    const long = product.filter(({ path, text }) => !path.endsWith('/database/src/tables.ts') && text.split('\n').length > 301);
    expect(long.map(({ path }) => path)).toEqual([]);
  });

  it('never synchronizes a schema, skips no test, and mocks no module, which files share', () => {
    const others = sources.filter(({ path }) => !path.endsWith('architecture.spec.ts'));
    expect(files(/synchronize:\s*true/, sources)).toEqual([]);
    expect(files(/\b(it|describe|test)\.(only|skip|todo)\(/, others)).toEqual([]);
    expect(files(/\bvi\.(mock|doMock|hoisted|resetModules)\(/, others)).toEqual([]);
  });
});

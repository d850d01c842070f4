import type { ApiDocument, DocumentedResponse, Schema } from './routes.js';

/** Methods that a path of the document may have. */
const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

/** What clients rely on, as lines: operations, their parameters and answers, and the fields of shapes. `!` marks what a request must have. */
export function interfaceOf(document: ApiDocument): string[] {
  const lines: string[] = [];
  const sent = requestShapes(document);
  for (const [path, operations] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      if (!METHODS.includes(method)) continue;
      const name = `${method.toUpperCase()} ${path.replaceAll(/\{[^}]+\}/g, '{}')}`;
      lines.push(name);
      for (const { name: parameter, in: place, schema, ...rest } of operation.parameters) {
        const required = (rest as { required?: boolean }).required ?? false;
        if (place === 'query') lines.push(`${name} ?${parameter}${required ? '!' : ''}`, ...valuesOf(`${name} ?${parameter}`, schema));
      }
      const body = operation.requestBody?.content ?? {};
      for (const [type, { schema }] of Object.entries(body)) lines.push(`${name} takes ${type} ${describe(schema)}`);
      for (const [status, response] of Object.entries(operation.responses)) {
        const { schema } = (response as Partial<DocumentedResponse>).content?.['application/json'] ?? {};
        if (status.startsWith('2')) lines.push(`${name} ${status} ${schema ? describe(schema) : 'nothing'}`);
      }
    }
  }
  for (const [name, shape] of Object.entries(document.components.schemas)) {
    for (const [field, schema] of Object.entries(shape.properties ?? {})) {
      const required = sent.has(name) && (shape.required as string[] | undefined)?.includes(field) ? '!' : '';
      lines.push(`${name}.${field}: ${describe(schema)}${required}`);
      if (sent.has(name)) lines.push(...valuesOf(`${name}.${field}`, schema));
    }
  }
  return [...new Set(lines)].sort();
}

/**
 * What of a change breaks clients: lines that are gone, and what a request newly must have.
 *
 * @param before the lines of the released document @param after those of this one
 */
export function breaking(before: readonly string[], after: readonly string[]): string[] {
  const [old, now] = [new Set(before.filter((line) => !line.startsWith('version '))), new Set(after)];
  const known = new Set(before.map(ownerOf));
  const sent = sentIn(before);
  // Answers may get narrower: what is no longer null. Requests may demand less.
  const narrower = (line: string) => !sent.has(ownerOf(line)) && now.has(line.replace(/: null\|/, ': ').replace(/: (.+)\|null$/, ': $1'));
  // Objects in answers may get further properties, as records do.
  const grown = (line: string) => !sent.has(ownerOf(line)) && after.some((other) => fieldOf(other) === fieldOf(line) && hasAll(other, line));
  const gone = [...old].filter((line) => !now.has(line) && !(line.endsWith('!') && now.has(line.slice(0, -1))) && !narrower(line) && !grown(line));
  const demanded = after.filter((line) => line.endsWith('!') && !old.has(line) && known.has(ownerOf(line)));
  return [...gone.map((line) => `gone: ${line}`), ...demanded.map((line) => `newly required: ${line}`)];
}

const fieldOf = (line: string): string => line.split(': {')[0]!;

/** Whether an object, or a list of them, has all properties of another one, of one level. */
function hasAll(line: string, other: string): boolean {
  const [[, properties, end] = [], [, others, otherEnd] = []] = [line, other].map((one) => /: \{([^{}]*)\}(.*)$/.exec(one) ?? []);
  return others !== undefined && end === otherEnd && others.split(', ').every((one) => properties?.split(', ').includes(one));
}

/** The shapes of request bodies, nested ones included, read from the recorded lines. */
function sentIn(lines: readonly string[]): Set<string> {
  const sent = new Set(lines.flatMap((line) => / takes \S+ (\w+)$/.exec(line)?.[1] ?? []));
  // A set yields what is added to it meanwhile.
  for (const name of sent)
    for (const line of lines) if (line.startsWith(`${name}.`)) for (const [part] of line.slice(name.length).matchAll(/\b[A-Z]\w+/g)) sent.add(part);
  return sent;
}

/** The operation or shape that a line is about. */
const ownerOf = (line: string): string => (line.startsWith('/') || line.includes(' /') ? line.split(' ').slice(0, 2).join(' ') : line.split('.')[0]!);

function describe(schema: Schema): string {
  if (typeof schema.$ref === 'string') return nameOf(schema.$ref);
  const either = (schema.oneOf ?? schema.anyOf) as Schema[] | undefined;
  if (either) return either.map(describe).sort().join('|');
  const types: string[] = [schema.type ?? 'any'].flat();
  const shown = types.map((type) => {
    if (type === 'array') return `${describe(schema.items as Schema)}[]`;
    if (type !== 'object' || !schema.properties) return schema.format && type === 'string' ? `string(${schema.format})` : type;
    return `{${Object.entries(schema.properties).map(([name, part]) => `${name}: ${describe(part)}`).sort().join(', ')}}`; // prettier-ignore
  });
  return shown.sort().join('|');
}

/** Answers of writes have shapes of their own, which permit null where those of reads do not: for clients they are the same. */
const nameOf = (reference: string): string =>
  reference
    .split('/')
    .at(-1)!
    .replace(/Written$/, '');

/** The values of a closed set, each of which a request may have. */
const valuesOf = (name: string, { enum: values = [] }: Schema & { enum?: unknown[] }): string[] =>
  values.map((value) => `${name} = ${JSON.stringify(value)}`);

/** The shapes that requests send, and those inside them. */
function requestShapes(document: ApiDocument): Set<string> {
  const found = new Set<string>();
  const visit = (part: unknown): void => {
    if (typeof part !== 'object' || part === null) return;
    const { $ref: reference } = part as { $ref?: unknown };
    if (typeof reference === 'string' && !found.has(nameOf(reference))) {
      found.add(nameOf(reference));
      visit(document.components.schemas[nameOf(reference)]);
    }
    for (const inside of Object.values(part)) visit(inside);
  };
  for (const operations of Object.values(document.paths)) for (const operation of Object.values(operations)) visit(operation.requestBody);
  return found;
}

import { groups, type Variable } from '@app/config';

const OPENING = `Every command reads the file \`.env\` in its working directory; the environment takes precedence. To read a value from a
file, such as a mounted secret, set \`NAME_FILE\` instead of \`NAME\`.`;

const sections = Object.entries(groups).map(([heading, variables]): [string, [string, Variable<unknown>][]] => [
  heading,
  Object.entries<Variable<unknown>>(variables),
]);

/** The default as it would be set; empty if there is none. */
function shown(fallback: unknown): string {
  const isGroup = Object.prototype.toString.call(fallback) === '[object Object]';
  return isGroup ? '' : String((fallback as string | number | boolean | string[] | null) ?? '');
}

/** Quoted if a shell would split it: env files are sourced too. */
const quoted = (value: string) => (/^[\w.,*-]*$/.test(value) ? value : `'${value}'`);

/** A comment of the width that the sources have. */
function comment(text: string): string {
  const words = text.replaceAll(/\s+/g, ' ').split(' ');
  const lines = [''];
  for (const word of words) {
    if (lines.at(-1)!.length + 1 + word.length > 118) lines.push('');
    lines.push(`${lines.pop()!} ${word}`);
  }
  return lines.map((line) => `#${line}\n`).join('');
}

function example(): string {
  const parts = sections.map(([heading, variables]) => {
    const lines = variables.map(([name, { fallback, meaning }]) => {
      return `${comment(meaning)}${name}=${quoted(shown(fallback))}\n`;
    });
    return `\n${`# --- ${heading} `.padEnd(119, '-')}\n${lines.join('')}`;
  });
  return `${comment(`Every variable that the service reads. All are optional under \`npm start\`. ${OPENING} Copy the lines that you want to change into \`.env\`. A shell can source the file too.`)}${parts.join('')}`;
}

function page(): string {
  const tables = sections.map(([heading, variables]) => {
    const rows = variables.map(([name, { fallback, meaning }]) => {
      const value = quoted(shown(fallback));
      return `| \`${name}\` | ${value && `\`${value}\``} | ${meaning} |\n`;
    });
    return `\n## ${heading}\n\n| variable | default | |\n|---|---|---|\n${rows.join('')}`;
  });
  return `# Configuration

Settings are environment variables. ${OPENING}
A process that starts with bad settings names all of them and exits. [.env.example](../.env.example) has the same list to copy from.
\`npm run configuration\` writes both from \`libs/config/src/variables.ts\`.
${tables.join('')}`;
}

/** If one of these fails, run `npm run configuration` and review the diff. */
describe('the variables of libs/config', () => {
  it('are listed in docs/configuration.md', () => expect(page()).toMatchFileSnapshot('../../docs/configuration.md'));

  it('are listed in .env.example', () => expect(example()).toMatchFileSnapshot('../../.env.example'));
});

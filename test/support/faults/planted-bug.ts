const DIST = new URL('../../../dist/apps/api/src/', import.meta.url);
const REFLECT = import.meta.resolve('reflect-metadata');

/**
 * Environment variables that plant a bug in a process of the built API.
 *
 * @param module path of an API module, relative to src; the code sees it as `module`
 * @param code JavaScript to run before the API starts
 */
export function plantedBug(module: string, code: string): Record<string, string> {
  const url = new URL(module, DIST).href;
  const text = `import '${REFLECT}'; const module = await import('${url}'); ${code}`;
  return { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(text)}` };
}

/** Makes everybody the same owner of turns: first come, first served. */
export const oneOwner = (): Record<string, string> =>
  plantedBug(
    '../../../libs/concurrency/src/turns.js',
    `const { enter } = module.Turns.prototype;
     module.Turns.prototype.enter = function (_, ...rest) { return enter.call(this, 'everybody', ...rest); };`,
  );

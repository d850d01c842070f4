const DIST = new URL('../../dist/apps/api/src/', import.meta.url);
const REFLECT = import.meta.resolve('reflect-metadata');

/**
 * Settings that plant a bug in a process of the built API, for a harness to find.
 *
 * @param module of the API, from its src folder, as `module` in the code
 * @param code JavaScript that runs before the API does
 */
export function plantedBug(module: string, code: string): Record<string, string> {
  const url = new URL(module, DIST).href;
  const text = `import '${REFLECT}'; const module = await import('${url}'); ${code}`;
  return { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(text)}` };
}

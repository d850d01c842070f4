/** Files that run in the same process share its modules and environment: none leaves a change behind. */
const environment = { ...process.env };

afterAll(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
  for (const name of Object.keys(process.env)) if (!(name in environment)) Reflect.deleteProperty(process.env, name);
  Object.assign(process.env, environment);
});

export {};

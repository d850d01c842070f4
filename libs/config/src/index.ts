export { Env, loadEnv, EnvError, readEnvFile, settingNames } from './env.js';
export { groups, type Variable, variables } from './variables.js';
export { decrypt, encrypt, type Purpose, Vault } from './vault.js';
export { ConfigModule } from './config.module.js';
export { endWithLauncher, tellLauncher } from './launcher.js';
export { TimedLinks } from './timed-links.js';
export { hashOfToken, newToken } from './tokens.js';

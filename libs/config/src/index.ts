export { Env, loadEnv, EnvError, settingNames } from './env.js';
export { ConfigModule } from './config.module.js';

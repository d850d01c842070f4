export { Log } from './log.js';
export { LoggingModule } from './logging.module.js';

import { ExportsModule } from '@app/exports';
import { Area, HttpModule } from '../../http/kit.js';
import { EXPORTS_CONTROLLERS } from './exports/exports.controller.js';
import { ME_CONTROLLERS } from './me.controller.js';
import { REPORTS_CONTROLLERS } from './reports.controller.js';
import { REQUEST_LOG_CONTROLLERS } from './request-log.controller.js';

/** The key itself: its organization, its requests, and the figures of the day. */
@Area({
  imports: [HttpModule, ExportsModule],
  controllers: [...ME_CONTROLLERS, ...REPORTS_CONTROLLERS, ...REQUEST_LOG_CONTROLLERS, ...EXPORTS_CONTROLLERS],
  tags: {
    ping: ['Ping', 'Check that a key works.'],
    me: ['Me', 'The organization and the scopes of a key.'],
    reports: ['Reports', 'Key figures for today and this week.'],
    exports: ['Exports', 'All data of the organization, in a file for its owners.'],
    'request-log': ['Request log', "What the organization's API keys requested in the last 7 days."],
  },
})
export class AccountModule {}

import { Module } from '@nestjs/common';
import { WebModule } from '../web/web.module.js';
import { ActivityController } from './activity.controller.js';
import { ActivityService } from './activity.service.js';

@Module({ imports: [WebModule], controllers: [ActivityController], providers: [ActivityService] })
export class ActivityModule {}

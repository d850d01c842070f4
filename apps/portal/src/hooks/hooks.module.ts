import { Module } from '@nestjs/common';
import { AccountsModule } from '@app/accounts';
import { PublishingModule } from '@app/publishing';
import { WebModule } from '../web/web.module.js';
import { HooksController } from './hooks.controller.js';
import { HooksService } from './hooks.service.js';

@Module({
  imports: [AccountsModule, PublishingModule, WebModule],
  controllers: [HooksController],
  providers: [HooksService],
})
export class HooksModule {}

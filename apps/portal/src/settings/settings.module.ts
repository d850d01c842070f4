import { Module } from '@nestjs/common';
import { Retention } from '@app/erasure';
import { FamiliesModule } from '@app/families';
import { LogoController } from './logo.controller.js';
import { MailsController } from './mails.controller.js';
import { RetentionController } from './retention.controller.js';
import { SettingsController } from './settings.controller.js';

@Module({
  imports: [FamiliesModule],
  controllers: [LogoController, MailsController, RetentionController, SettingsController],
  providers: [Retention],
})
export class SettingsModule {}

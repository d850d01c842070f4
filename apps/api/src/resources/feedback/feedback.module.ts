import { Module } from '@nestjs/common';
import { HttpModule } from '../../http/http.module.js';
import { FeedbackController } from './feedback.controller.js';
import { FeedbackService } from './feedback.service.js';

@Module({ imports: [HttpModule], controllers: [FeedbackController], providers: [FeedbackService] })
export class FeedbackModule {}
